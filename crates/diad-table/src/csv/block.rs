//! Many rows at once: those without quotation marks, each with as many cells as there are names.

use std::io::BufRead;

use memchr::{memchr, memchr_iter, memchr2_iter, memrchr};
use rayon::prelude::*;

use super::records::{Records, unreadable};
use crate::Result;
use crate::cells::Cells;

/// Most bytes that are cut at once, and those from which on it is worth while.
const MOST: usize = 1 << 20;
const LEAST: usize = 512;
/// Bytes for which another thread is worth its call.
const PIECE: usize = 16 << 10;

/// How much is cut at once.
#[derive(Debug)]
pub(super) struct Blocks {
    /// Few bytes after a row that has to be read by itself, so that little is cut in vain where there are many of those.
    room: usize,
    /// Bytes of a row in the last block.
    row: usize,
}

impl Default for Blocks {
    fn default() -> Self {
        Self { room: MOST, row: 1 << 10 }
    }
}

/// The cells of some rows, and the bytes of these rows.
struct Piece {
    spans: Vec<(u32, u32)>,
    taken: usize,
    whole: bool,
}

impl<R: BufRead> Records<R> {
    /// Adds rows that are in the buffer, until there are `most` or one comes that has to be read by itself, and gives their number.
    pub(super) fn take_block(&mut self, cells: &mut Cells, most: usize) -> Result<u64> {
        if !self.started {
            return Ok(0);
        }
        self.skip_blank_lines()?;
        let input = self.input.fill_buf().map_err(|source| unreadable(&self.path, source))?;
        let (left, width) = (most - cells.rows(), cells.width);
        // A few rows more than are wanted, since rows differ in length.
        let limit = input.len().min(self.blocks.room).min((left + left / 8 + 8) * self.blocks.row);
        let block = &input[..plain_lines(&input[..limit])];
        let pieces = pieces(block, rayon::current_num_threads());
        let cut = |&(start, end): &(usize, usize)| {
            cut(&block[start..end], cells.bytes.len() + start, self.delimiter, width)
        };
        let pieces: Vec<Piece> = if pieces.len() < 2 {
            pieces.iter().map(cut).collect()
        } else {
            pieces.par_iter().map(cut).collect()
        };
        let (first, base) = (cells.spans.len(), cells.bytes.len());
        let (mut taken, mut whole) = (0, !block.is_empty());
        for piece in pieces {
            cells.spans.extend(piece.spans);
            taken += piece.taken;
            if !piece.whole {
                whole = false;
                break;
            }
        }
        let rows = ((cells.spans.len() - first) / width).min(left);
        cells.spans.truncate(first + rows * width);
        if rows == left {
            // The line feed behind the last cell.
            taken = cells.spans[first + rows * width - 1].1 as usize + 1 - base;
        }
        self.blocks.room = if whole { (2 * self.blocks.room).min(MOST) } else { taken.max(LEAST) };
        if rows == 0 {
            return Ok(0);
        }
        self.blocks.row = taken.div_ceil(rows);
        cells.bytes.extend_from_slice(&block[..taken]);
        cells.lines.extend(self.next_line..self.next_line + rows as u64);
        self.input.consume(taken);
        self.last_byte = b'\n';
        self.next_line += rows as u64;
        Ok(rows as u64)
    }
}

/// Bytes of the lines before the first quotation mark or carriage return that does not end a line.
fn plain_lines(block: &[u8]) -> usize {
    let lines = |end: usize| memrchr(b'\n', &block[..end]).map_or(0, |last| last + 1);
    let end = lines(memchr(b'"', block).unwrap_or(block.len()));
    let alone = memchr_iter(b'\r', &block[..end]).find(|&place| block[place + 1] != b'\n');
    alone.map_or(end, lines)
}

/// Where pieces of whole lines start and end, one for each thread.
fn pieces(block: &[u8], threads: usize) -> Vec<(usize, usize)> {
    let size = block.len().div_ceil(threads).max(PIECE);
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < block.len() {
        let middle = (start + size).min(block.len() - 1);
        let end = memchr(b'\n', &block[middle..]).map_or(block.len(), |place| middle + place + 1);
        pieces.push((start, end));
        start = end;
    }
    pieces
}

/// The cells of a piece as they are placed in the end, up to the first row that has more or fewer of them than it should.
fn cut(piece: &[u8], base: usize, delimiter: u8, width: usize) -> Piece {
    let mut spans = Vec::with_capacity(piece.len() / 6);
    let (mut start, mut rows, mut taken) = (0, 0, 0);
    for place in memchr2_iter(delimiter, b'\n', piece) {
        spans.push(((base + start) as u32, (base + place) as u32));
        start = place + 1;
        if piece[place] == b'\n' {
            rows += 1;
            if spans.len() != rows * width {
                spans.truncate((rows - 1) * width);
                return Piece { spans, taken, whole: false };
            }
            taken = start;
        }
    }
    Piece { spans, taken, whole: true }
}
