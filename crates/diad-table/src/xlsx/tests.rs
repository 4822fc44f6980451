use super::*;

/// Texts of a workbook are read at once, before any sheet is.
#[test]
fn a_workbook_of_endless_texts_is_refused() {
    use std::io::Write;
    let mut file = tempfile::tempfile().unwrap();
    let mut archive = zip::ZipWriter::new(&mut file);
    let options = zip::write::SimpleFileOptions::default();
    archive.start_file("xl/sharedStrings.xml", options).unwrap();
    let texts = b"<si><t>x</t></si>".repeat(1 << 16);
    (0..20).for_each(|_| archive.write_all(&texts).unwrap());
    archive.finish().unwrap();
    assert!(file.metadata().unwrap().len() < 1 << 20);
    assert!(!aside(&file, 20 * texts.len() - 1).unwrap());
    assert!(aside(&file, 20 * texts.len()).unwrap());
}

#[test]
fn a_sheet_takes_no_more_than_its_share_of_the_memory() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/tables/same.xlsx");
    let mut book = Xlsx::new(BufReader::new(File::open(path).unwrap())).unwrap();
    let sheet = book.sheet_names()[0].clone();
    assert!(cells_within(&mut book, &sheet, 10_000).unwrap().is_none());
    let range = cells_within(&mut book, &sheet, 64 << 20).unwrap().unwrap();
    assert_eq!(range, book.worksheet_range(&sheet).unwrap());
}

/// A workbook of sheets, each of rows of cells: numbers where a cell is one, texts else, and nothing where it is empty.
fn book(sheets: &[(&str, &[&str])]) -> File {
    use std::fmt::Write as _;
    use std::io::Write as _;
    let mut archive = zip::ZipWriter::new(tempfile::tempfile().unwrap());
    let mut add = |name: &str, text: &str| {
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    };
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let package = "http://schemas.openxmlformats.org/package/2006/relationships";
    let (mut list, mut links) = (String::new(), String::new());
    for (index, (name, rows)) in sheets.iter().enumerate() {
        write!(list, "<sheet name=\"{name}\" sheetId=\"{0}\" r:id=\"r{0}\"/>", index + 1).unwrap();
        write!(
            links,
            "<Relationship Id=\"r{0}\" Type=\"{office}/worksheet\" Target=\"worksheets/s{0}.xml\"/>",
            index + 1
        )
        .unwrap();
        let mut data = String::new();
        for (row, cells) in rows.iter().enumerate() {
            write!(data, "<row r=\"{}\">", row + 1).unwrap();
            for (column, cell) in cells.split('|').enumerate().filter(|(_, cell)| !cell.is_empty()) {
                let place = format!("{}{}", char::from(b'A' + column as u8), row + 1);
                match cell.parse::<f64>() {
                    Ok(number) => write!(data, "<c r=\"{place}\"><v>{number}</v></c>"),
                    Err(_) => write!(data, "<c r=\"{place}\" t=\"inlineStr\"><is><t>{cell}</t></is></c>"),
                }
                .unwrap();
            }
            data += "</row>";
        }
        add(
            &format!("xl/worksheets/s{}.xml", index + 1),
            &format!("<worksheet xmlns=\"{main}\"><sheetData>{data}</sheetData></worksheet>"),
        );
    }
    add(
        "xl/workbook.xml",
        &format!("<workbook xmlns=\"{main}\" xmlns:r=\"{office}\"><sheets>{list}</sheets></workbook>"),
    );
    add("xl/_rels/workbook.xml.rels", &format!("<Relationships xmlns=\"{package}\">{links}</Relationships>"));
    add(
        "_rels/.rels",
        &format!(
            "<Relationships xmlns=\"{package}\"><Relationship Id=\"r1\" Type=\"{office}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
        ),
    );
    archive.finish().unwrap()
}

/// The names, the number of rows, the first row, and the notes.
fn read(
    sheets: &[(&str, &[&str])],
    sheet: Option<&str>,
    selection: &Selection,
) -> Result<(String, usize, String, Vec<String>)> {
    let mut reader = XlsxReader::new(book(sheets), Path::new("t.xlsx"), sheet, selection)?;
    let table = reader.next_batch()?.expect("rows");
    let cells = (0..table.names().len()).map(|column| table.values(column).cell(0).unwrap_or_default());
    let first = cells.collect::<Vec<_>>().join("|");
    Ok((table.names().join("|"), table.rows(), first, reader.about().notes))
}

const COVER: &[&str] =
    &["Sales of 2024", "", "Made by|Finance", "On|2024-12-31", "Rows|3", "Remarks are in the last sheet"];
const SALES: &[&str] = &["day|shop|sum", "1|Bern|10", "2|Basel|20", "3|Chur|30"];

#[test]
fn a_cover_is_passed_over() {
    let sheets = [("Cover", COVER), ("empty", &[][..]), ("Sales", SALES), ("Notes", &["nothing"][..])];
    let (names, rows, first, notes) = read(&sheets, None, &Selection::all()).unwrap();
    assert_eq!((names.as_str(), rows, first.as_str()), ("day|shop|sum", 3, "1|Bern|10"));
    assert_eq!(
        notes,
        [
            "the sheets of t.xlsx are \"Cover\", \"empty\", \"Sales\", \"Notes\"; \"Sales\" is read, since \"Cover\" seems to hold \
          no table; --sheet names another"
        ]
    );
    assert_eq!(read(&sheets, Some("Cover"), &Selection::all()).unwrap().0, "Made by|Finance");
    let asked = Selection::only(["Finance"]);
    assert_eq!(read(&sheets, None, &asked).unwrap().0, "Finance", "a sheet that has the columns asked for");
}

#[test]
fn the_first_sheet_that_may_be_a_table_is_read_otherwise() {
    let small: &[&str] = &["name|value", "a|1", "b|2"];
    for first in [small, &["x", "1", "2", "3"], &["a|b|c", "1|x|2", "3|y|4"]] {
        let (names, .., notes) = read(&[("One", first), ("Sales", SALES)], None, &Selection::all()).unwrap();
        assert_eq!(names, first[0]);
        assert_eq!(notes, ["t.xlsx has 2 sheets; \"One\" is read"]);
    }
    assert_eq!(
        read(&[("Cover", COVER), ("More", &["a remark"])], None, &Selection::all()).unwrap().0,
        "Made by|Finance"
    );
}

#[test]
fn a_table_may_start_below_a_title_and_in_a_later_column() {
    let rows = &["Sales of the year|", "", "||day|shop|sum", "||1|Bern|10", "||2||20", "||3|Chur|31"][..];
    let (names, rows, first, notes) = read(&[("S", rows)], None, &Selection::all()).unwrap();
    assert_eq!((names.as_str(), rows, first.as_str()), ("day|shop|sum", 3, "1|Bern|10"));
    assert_eq!(notes, ["the table in sheet \"S\" starts at row 3; the rows above it are skipped"]);
}

#[test]
fn names_once_more_and_sums_at_the_end_are_left_out() {
    let joined = [SALES, SALES, &["||", "Total||120"]].concat();
    let (_, rows, _, notes) = read(&[("S", &joined)], None, &Selection::all()).unwrap();
    assert_eq!(rows, 6);
    let mut reader =
        XlsxReader::new(book(&[("S", &joined)]), Path::new("t.xlsx"), None, &Selection::all()).unwrap();
    while reader.next_batch().unwrap().is_some() {}
    assert_eq!(
        reader.about().notes,
        [
            "row 10 of sheet \"S\" has the sums of the others; it is left out",
            "row 5 has the names of the columns once more; it is left out"
        ]
    );
    assert_eq!(notes[0], "row 10 of sheet \"S\" has the sums of the others; it is left out");
    for last in ["Total||121", "Chur||120", "Total||", "Total|shop 7|120", "Total|2024-12-31|120"] {
        assert_eq!(
            read(&[("S", &[SALES, SALES, &[last]].concat())], None, &Selection::all()).unwrap().1,
            7,
            "{last}"
        );
    }
    let words: &[&str] = &["color|size", "red|big", "color|size", "blue|small"];
    assert_eq!(
        read(&[("S", words)], None, &Selection::all()).unwrap().1,
        3,
        "nothing tells that they are names"
    );
}
