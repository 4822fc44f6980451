//! The few messages of ONNX that are needed, as bytes of Protocol Buffers. The numbers are those of the fields in onnx.proto.

/// A message in the making.
#[derive(Debug, Clone, Default)]
pub struct Message(Vec<u8>);

impl Message {
    /// The finished bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// A whole number.
    #[must_use]
    pub fn int(mut self, field: u32, value: i64) -> Self {
        self.varint(u64::from(field) << 3);
        self.varint(value as u64);
        self
    }

    /// Bytes, a text or a message.
    #[must_use]
    pub fn bytes(mut self, field: u32, value: &[u8]) -> Self {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    /// A text.
    #[must_use]
    pub fn text(self, field: u32, value: &str) -> Self {
        self.bytes(field, value.as_bytes())
    }

    /// A message.
    #[must_use]
    pub fn message(self, field: u32, value: Self) -> Self {
        self.bytes(field, &value.0)
    }

    /// Whole numbers, packed.
    #[must_use]
    pub fn ints(self, field: u32, values: &[i64]) -> Self {
        let mut packed = Self::default();
        values.iter().for_each(|&value| packed.varint(value as u64));
        self.message(field, packed)
    }

    /// Numbers, packed.
    #[must_use]
    pub fn floats(self, field: u32, values: &[f32]) -> Self {
        let packed: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.bytes(field, &packed)
    }
}

/// What the elements of a tensor are: the numbers of `TensorProto.DataType`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(i64)]
pub enum Element {
    Float = 1,
    Int64 = 7,
    Text = 8,
    Double = 11,
}

/// An attribute of an operator.
#[derive(Debug, Clone)]
pub enum Attribute<'a> {
    Int(i64),
    Float(f32),
    Text(&'a str),
    Ints(Vec<i64>),
    Floats(Vec<f32>),
    Texts(Vec<String>),
}

impl Attribute<'_> {
    fn message(&self, name: &str) -> Message {
        let message = Message::default().text(1, name);
        match self {
            Self::Float(value) => {
                let mut message = message;
                message.varint(2 << 3 | 5);
                message.0.extend_from_slice(&value.to_le_bytes());
                message.int(20, 1)
            }
            Self::Int(value) => message.int(3, *value).int(20, 2),
            Self::Text(value) => message.text(4, value).int(20, 3),
            Self::Floats(values) => message.floats(7, values).int(20, 6),
            Self::Ints(values) => message.ints(8, values).int(20, 7),
            Self::Texts(values) => values.iter().fold(message, |m, value| m.text(9, value)).int(20, 8),
        }
    }
}

/// A graph in the making. Values are known by their names.
#[derive(Debug, Default)]
pub struct Graph {
    nodes: Message,
    constants: Message,
    ends: Message,
    count: usize,
}

/// The domain of operators for machine learning.
pub const ML: &str = "ai.onnx.ml";

impl Graph {
    fn fresh(&mut self) -> String {
        self.count += 1;
        format!("_{}", self.count)
    }

    /// The result of an operator.
    pub fn op(&mut self, kind: &str, inputs: &[&str], attributes: &[(&str, Attribute)]) -> String {
        let output = self.fresh();
        self.node(("", kind), inputs, &output, attributes);
        output
    }

    /// The result of an operator for machine learning.
    pub fn ml(&mut self, kind: &str, inputs: &[&str], attributes: &[(&str, Attribute)]) -> String {
        let output = self.fresh();
        self.node((ML, kind), inputs, &output, attributes);
        output
    }

    /// An operator with a result of this name.
    pub fn node(
        &mut self,
        (domain, kind): (&str, &str),
        inputs: &[&str],
        output: &str,
        attributes: &[(&str, Attribute)],
    ) {
        let node = inputs.iter().fold(Message::default(), |node, input| node.text(1, input));
        let node = node.text(2, output).text(4, kind);
        let node = attributes.iter().fold(node, |node, (name, value)| node.message(5, value.message(name)));
        let node = if domain.is_empty() { node } else { node.text(7, domain) };
        self.nodes = std::mem::take(&mut self.nodes).message(1, node);
    }

    fn constant(&mut self, dims: &[usize], element: Element, bytes: &[u8]) -> String {
        let name = self.fresh();
        let tensor = dims.iter().fold(Message::default(), |tensor, &dim| tensor.int(1, dim as i64));
        let tensor = tensor.int(2, element as i64).text(8, &name).bytes(9, bytes);
        self.constants = std::mem::take(&mut self.constants).message(5, tensor);
        name
    }

    /// Numbers in double precision.
    pub fn doubles(&mut self, dims: &[usize], values: &[f64]) -> String {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(dims, Element::Double, &bytes)
    }

    /// Numbers in single precision.
    pub fn floats(&mut self, dims: &[usize], values: &[f64]) -> String {
        let bytes: Vec<u8> = values.iter().flat_map(|&value| (value as f32).to_le_bytes()).collect();
        self.constant(dims, Element::Float, &bytes)
    }

    /// Whole numbers.
    pub fn ints(&mut self, dims: &[usize], values: &[usize]) -> String {
        let bytes: Vec<u8> = values.iter().flat_map(|&value| (value as i64).to_le_bytes()).collect();
        self.constant(dims, Element::Int64, &bytes)
    }

    /// An input (field 11) or output (field 12) with a row for each row of the table.
    pub fn end(&mut self, field: u32, name: &str, element: Element, width: usize) {
        let dim = Message::default().message(1, Message::default().text(2, "rows"));
        let shape = dim.message(1, Message::default().int(1, width as i64));
        let tensor = Message::default().int(1, element as i64).message(2, shape);
        let info = Message::default().text(1, name).message(2, Message::default().message(1, tensor));
        self.ends = std::mem::take(&mut self.ends).message(field, info);
    }

    /// The model file.
    pub fn finished(self, name: &str, metadata: &[(&str, String)]) -> Vec<u8> {
        let mut graph = Message(self.nodes.0);
        graph = graph.text(2, name);
        graph.0.extend(self.constants.0);
        graph.0.extend(self.ends.0);
        let opset = |domain: &str, version: i64| Message::default().text(1, domain).int(2, version);
        let model = Message::default().int(1, 8).text(2, "diad").message(7, graph);
        let model = model.message(8, opset("", 17)).message(8, opset(ML, 3));
        let entry = |(key, value): &(&str, String)| Message::default().text(1, key).text(2, value);
        metadata.iter().fold(model, |model, pair| model.message(14, entry(pair))).into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_those_of_protocol_buffers() {
        // The examples of the encoding guide of Protocol Buffers.
        assert_eq!(Message::default().int(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        assert_eq!(Message::default().text(2, "testing").into_bytes(), b"\x12\x07testing");
        assert_eq!(
            Message::default().ints(6, &[3, 270, 86942]).into_bytes(),
            b"\x32\x06\x03\x8e\x02\x9e\xa7\x05"
        );
        assert_eq!(
            Message::default().int(1, -2).into_bytes(),
            b"\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"
        );
    }
}
