import {
  Binary,
  checkType,
  Duration,
  type Func,
  MError,
  RecordValue,
  Table,
  TypeValue,
  type Value,
} from './values.ts'

/** The functions of the host for the library. */
export interface Surroundings {
  contents(url: string, options: RecordValue): Value
  sleep(ms: number): void
}

const asText = (value: Value) => checkType(value, new TypeValue('text')) as string
const asNumber = (value: Value) => checkType(value, new TypeValue('number')) as number
const asList = (value: Value) => checkType(value, new TypeValue('list')) as Value[]
const asFunction = (value: Value) => value as Func

const MS_OF = [86_400_000, 3_600_000, 60_000, 1_000]

/** The functions of M's library that the recipe uses, and no others. */
export function createLibrary({ contents, sleep }: Surroundings): Record<string, Value> {
  return {
    '#duration': (...parts) =>
      new Duration(
        parts.reduce<number>((sum, part, at) => sum + asNumber(part) * (MS_OF[at] ?? 0), 0),
      ),
    '#table': (type, rows) => tableOf(type as TypeValue, asList(rows).map(asList)),
    'Binary.Buffer': (binary) => new Binary((binary as Binary).text),
    'Currency.From': (value) => Math.round(asNumber(value) * 1e4) / 1e4,
    'Currency.Type': new TypeValue('Currency.Type'),
    'DateTimeZone.FromText': (text) => instantOf(asText(text)),
    'Error.Record': (reason, message) => RecordValue.of({ Reason: reason, Message: message }),
    'Function.InvokeAfter': (call, delay) => {
      sleep((delay as Duration).ms)
      return asFunction(call)()
    },
    'Int64.Type': new TypeValue('Int64.Type'),
    'Json.Document': (binary) => fromJson((binary as Binary).text),
    'List.Combine': (lists) => asList(lists).flatMap(asList),
    'List.Generate': (initial, condition, next, selector) =>
      generated(...([initial, condition, next, selector] as [Func, Func, Func, Func])),
    'List.Transform': (list, transform) => asList(list).map((item) => asFunction(transform)(item)),
    'Number.ToText': (number) => String(asNumber(number)),
    'Text.Combine': (texts, separator) => asList(texts).map(asText).join(asText(separator)),
    'Value.Metadata': (value) => (value as Binary).metadata,
    'Web.Contents': (url, options) => contents(asText(url), options as RecordValue),
  }
}

function generated(initial: Func, condition: Func, next: Func, selector: Func): Value[] {
  const items: Value[] = []
  for (let state = initial(); condition(state) === true; state = next(state)) {
    items.push(selector(state))
  }
  return items
}

/** Checks each value against its column type, which M leaves to the loader of the table. */
function tableOf({ columns }: TypeValue, rows: Value[][]): Table {
  for (const row of rows) {
    if (row.length !== columns.length)
      throw new MError('Expression.Error', 'too few or many values')
    for (const [at, { type }] of columns.entries()) checkType(row[at] ?? null, type)
  }
  return new Table(columns, rows)
}

function instantOf(text: string): Date {
  const instant = new Date(text)
  if (Number.isNaN(instant.getTime())) throw new MError('DataFormat.Error', `no instant: ${text}`)
  return instant
}

function fromJson(text: string): Value {
  try {
    return JSON.parse(text, (_, value) =>
      value !== null && typeof value === 'object' && !Array.isArray(value)
        ? RecordValue.of(value)
        : value,
    ) as Value
  } catch {
    throw new MError('DataFormat.Error', 'We found unexpected input in the JSON.')
  }
}
