//! Excel workbooks: one sheet, its texts as texts, so that none of them is taken for a formula.

use std::fmt::Write as _;
use std::io::{Seek, Write};

use anyhow::{Result, bail};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{Cells, Column, Writer, number};

/// Most rows of a sheet, and most characters of a cell.
const MOST_ROWS: usize = 1 << 20;
const LONGEST: usize = 32_767;

const TYPES: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>"#;
const ROOT: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#;
const WORKBOOK: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="alerts" sheetId="1" r:id="rId1"/></sheets></workbook>"#;
const SHEETS: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#;
/// The first row stays in sight.
const START: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>"#;
const END: &str = "</sheetData></worksheet>";

pub struct Workbook<W: Write + Seek> {
    zip: ZipWriter<W>,
    rows: usize,
    buffer: String,
}

impl<W: Write + Seek> Workbook<W> {
    pub fn new(out: W) -> Result<Self> {
        let mut zip = ZipWriter::new(out);
        for (name, content) in [
            ("[Content_Types].xml", TYPES),
            ("_rels/.rels", ROOT),
            ("xl/workbook.xml", WORKBOOK),
            ("xl/_rels/workbook.xml.rels", SHEETS),
            ("xl/worksheets/sheet1.xml", START),
        ] {
            zip.start_file(name, SimpleFileOptions::default())?;
            zip.write_all(content.as_bytes())?;
        }
        Ok(Self { zip, rows: 0, buffer: String::new() })
    }
}

/// Text inside XML, without the characters that it cannot have.
fn put(buffer: &mut String, text: &str) {
    buffer.push_str("<c t=\"inlineStr\"><is><t xml:space=\"preserve\">");
    for c in text.chars().take(LONGEST) {
        match c {
            '<' => buffer.push_str("&lt;"),
            '>' => buffer.push_str("&gt;"),
            '&' => buffer.push_str("&amp;"),
            '\t' | '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'.. => buffer.push(c),
            _ => buffer.push('\u{fffd}'),
        }
    }
    buffer.push_str("</t></is></c>");
}

impl<W: Write + Seek + Send> Writer for Workbook<W> {
    fn add(&mut self, columns: &[Column]) -> Result<()> {
        let buffer = &mut self.buffer;
        buffer.clear();
        if self.rows == 0 {
            buffer.push_str("<row>");
            columns.iter().for_each(|column| put(buffer, column.name));
            buffer.push_str("</row>");
            self.rows = 1;
        }
        let rows = columns.first().map_or(0, |column| column.cells.len());
        self.rows += rows;
        if self.rows > MOST_ROWS {
            bail!(
                "an Excel sheet has at most {MOST_ROWS} rows; write a .csv or .parquet file, or only some rows with --top"
            );
        }
        for row in 0..rows {
            buffer.push_str("<row>");
            for column in columns {
                match column.cells {
                    Cells::Whole(cells) => write!(buffer, "<c><v>{}</v></c>", cells[row])?,
                    Cells::Scores(cells) => write!(buffer, "<c><v>{}</v></c>", cells[row])?,
                    Cells::Coded(_, texts, codes) => {
                        write!(buffer, "<c><v>{}</v></c>", texts[codes[row] as usize])?;
                    }
                    Cells::Words(words, codes) => match words.get(codes[row] as usize) {
                        Some(word) => put(buffer, word),
                        None => buffer.push_str("<c/>"),
                    },
                    Cells::Truths(cells) => {
                        write!(buffer, "<c t=\"b\"><v>{}</v></c>", u8::from(cells[row]))?;
                    }
                    Cells::Texts(cells) => match &cells[row] {
                        Some(text) => put(buffer, text),
                        None => buffer.push_str("<c/>"),
                    },
                    Cells::Numerals(cells, notation) => match &cells[row] {
                        Some(text) => match number(text, notation) {
                            Some(number) => write!(buffer, "<c><v>{number}</v></c>")?,
                            None => put(buffer, text),
                        },
                        None => buffer.push_str("<c/>"),
                    },
                }
            }
            buffer.push_str("</row>");
        }
        Ok(self.zip.write_all(buffer.as_bytes())?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.zip.write_all(END.as_bytes())?;
        self.zip.finish()?.flush()?;
        Ok(())
    }
}
