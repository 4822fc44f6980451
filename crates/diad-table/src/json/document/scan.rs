//! What an object of JSON is made of, told from its text: where its entries are, and what the lists among them hold.

use memchr::memchr2;

/// Objects within objects that are looked into, at most.
const DEEPEST: usize = 16;

/// The entries of an object.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) entries: Vec<Entry>,
}

#[derive(Debug)]
pub(super) struct Entry {
    /// Where its key starts, and its value. Texts are shorter than 4 GB, and there may be very many entries.
    pub(super) key: u32,
    pub(super) at: u32,
    pub(super) value: Kind,
}

impl Entry {
    /// The object that its value is.
    pub(super) fn object(&self) -> Option<&Node> {
        match &self.value {
            Kind::Object(node) => Some(node),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(super) enum Kind {
    /// A text, a number, a truth value or nothing.
    Plain,
    List(List),
    Object(Box<Node>),
    /// An object that is too deep within others.
    Deep,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct List {
    pub(super) of: Of,
    pub(super) count: u32,
    pub(super) end: u32,
}

/// What all values of a list are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Plain,
    Lists,
    Objects,
    Different,
}

pub(super) struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a [u8], at: usize) -> Self {
        Self { text, at }
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at)?.is_ascii_whitespace() {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    /// Where the value that starts here ends.
    pub(super) fn end(mut self) -> Option<usize> {
        self.skip()?;
        Some(self.at)
    }

    /// The object that starts here; nothing if it is none.
    pub(super) fn node(&mut self, depth: usize) -> Option<Node> {
        let mut node = Node::default();
        self.at += usize::from(self.peek()? == b'{');
        loop {
            match self.peek()? {
                b'}' => {
                    self.at += 1;
                    return Some(node);
                }
                b',' if !node.entries.is_empty() => self.at += 1,
                _ => {}
            }
            if self.peek()? != b'"' {
                return None;
            }
            let key = self.at as u32;
            self.skip_text()?;
            if self.peek()? != b':' {
                return None;
            }
            self.at += 1;
            let first = self.peek()?;
            let at = self.at as u32;
            let value = match first {
                b'{' if depth < DEEPEST => Kind::Object(Box::new(self.node(depth + 1)?)),
                b'[' => Kind::List(self.list()?),
                _ => {
                    self.skip()?;
                    if first == b'{' { Kind::Deep } else { Kind::Plain }
                }
            };
            node.entries.push(Entry { key, at, value });
        }
    }

    fn list(&mut self) -> Option<List> {
        let mut list = List { of: Of::Plain, count: 0, end: 0 };
        self.values(|first, _| {
            let of = match first {
                b'{' => Of::Objects,
                b'[' => Of::Lists,
                _ => Of::Plain,
            };
            list.of = if list.count == 0 || list.of == of { of } else { Of::Different };
            list.count += 1;
        })?;
        list.end = self.at as u32;
        Some(list)
    }

    /// Gives the first byte and the place of every value of the list that starts here.
    pub(super) fn values(&mut self, mut each: impl FnMut(u8, usize)) -> Option<()> {
        self.at += usize::from(self.peek()? == b'[');
        let mut any = false;
        loop {
            match self.peek()? {
                b']' => {
                    self.at += 1;
                    return Some(());
                }
                b',' if any => self.at += 1,
                _ => {}
            }
            let first = self.peek()?;
            each(first, self.at);
            any = true;
            self.skip()?;
        }
    }

    /// Goes to the end of a value. There is none where a value should start with a mark.
    fn skip(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.skip_text(),
            b'{' | b'[' => {
                let mut depth = 0usize;
                loop {
                    match self.text.get(self.at)? {
                        b'"' => {
                            self.skip_text()?;
                            continue;
                        }
                        b'{' | b'[' => depth += 1,
                        b'}' | b']' => depth -= 1,
                        _ => {}
                    }
                    self.at += 1;
                    if depth == 0 {
                        return Some(());
                    }
                }
            }
            b',' | b':' | b'}' | b']' => None,
            _ => {
                let rest = &self.text[self.at..];
                let ends =
                    |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b':' | b'}' | b']');
                self.at += rest.iter().position(ends).unwrap_or(rest.len());
                Some(())
            }
        }
    }

    /// Goes behind the quotation mark that closes the text that starts here.
    fn skip_text(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            self.at += memchr2(b'"', b'\\', self.text.get(self.at..)?)?;
            if self.text[self.at] == b'"' {
                self.at += 1;
                return Some(());
            }
            self.at += 2;
        }
    }
}
