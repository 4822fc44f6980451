// The rows: those of the list come first, then ordinary ones that they are compared with.
const ARRAYS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array };
// A missing number has the last place of an axis; the others reach from a little below 0 to a little beyond 1.
const NO_PLACE = 65535;
const LAST_PLACE = 65534;

function unpack(packed) {
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new ARRAYS[packed.kind](bytes.buffer);
}

// Texts of rows, unpacked when they are first asked for.
function textsOf(packed) {
  let codes = null;
  const code = (i) => {
    if (!packed.codes) return i;
    codes ??= unpack(packed.codes);
    return codes[i];
  };
  return { distinct: packed.texts, code, at: (i) => packed.texts[code(i)] };
}

const rows = (() => {
  const given = data.rows;
  const [numbers, scores] = [given.numbers, given.scores].map(unpack);
  const [terms, contributions, rest] = [given.terms, given.contributions, given.rest].map(unpack);
  const labels = given.labels && unpack(given.labels);
  const groups = unpack(given.group_of);
  const [sentences, standings] = [given.sentences, given.standings].map(textsOf);
  const values = given.values.map(textsOf);
  const places = given.values.map(() => null);
  // Where the entries of a row start, of which rows at the start have more.
  const start = (i, [more, few]) => Math.min(i, given.at_length) * more + Math.max(0, i - given.at_length) * few;
  return {
    count: given.count,
    listed: given.listed,
    number: (i) => numbers[i],
    score: (i) => scores[i],
    standing: (i) => standings.at(i),
    label: (i) => (labels ? labels[i] : null),
    hasLabels: Boolean(labels),
    rest: (i) => rest[i],
    // The largest terms of a row: which, by how much, and a sentence for the first ones.
    terms(i) {
      const from = start(i, given.terms_each), to = start(i + 1, given.terms_each);
      const said = start(i, given.sentences_each), end = start(i + 1, given.sentences_each);
      return Array.from(terms.subarray(from, to), (term, k) => ({
        term, value: contributions[from + k], sentence: said + k < end ? sentences.at(said + k) : null,
      }));
    },
    // The first reason: a term that raises the score.
    reason(i) {
      const from = start(i, given.terms_each), said = start(i, given.sentences_each);
      const count = start(i + 1, given.sentences_each) - said;
      for (let k = 0; k < count; k++) if (contributions[from + k] > 0) return sentences.at(said + k);
      return "";
    },
    text: (i, column) => values[column].at(i),
    values: (column) => values[column],
    // Where a value lies on the axis of its column; nothing where it is missing and the axis has no place for that.
    position(i, column) {
      places[column] ??= unpack(given.values[column].places);
      const place = places[column][i];
      return place === NO_PLACE ? data.columns[column].missing : (place / LAST_PLACE) * 1.02 - 0.01;
    },
    isMissing: (i, column) => ((places[column] ??= unpack(given.values[column].places)))[i] === NO_PLACE,
    // What the row has in common with others, by its place in `groups`; nothing beyond the first rows of a long list.
    group: (i) => groups[i] ?? null,
    groups: given.groups,
    wayOut: (i) => given.ways_out[i] ?? null,
    // The place of the row of a number, if it is here.
    find: (number) => { const i = numbers.indexOf(number); return i < 0 ? null : i; },
  };
})();

const kept = data.rows.kept.map((column) => ({ name: column.name, identifier: column.identifier, ...textsOf(column) }));
const identifier = kept.find((column) => column.identifier) ?? null;
const idName = identifier ? identifier.name : "row";
const idOf = (i) => (identifier ? identifier.at(i) : whole(rows.number(i)));
const rowName = (i) => (identifier ? `${identifier.name} ${identifier.at(i)}` : `Row ${whole(rows.number(i))}`);
const valueText = (i, term) => term.columns.map((c) => `${saidOf(c)} = ${rows.text(i, c)}`).join(", ");
const shortValueText = (i, term, length) =>
  cutEach(term.columns.flatMap((c) => [saidOf(c), rows.text(i, c)]), [" = ", ", ", " = "].slice(0, 2 * term.columns.length - 1), length);
const isFlagged = (i) => rows.score(i) >= state.flagged;
