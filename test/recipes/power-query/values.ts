/** The value of an M expression, limited to the recipe. Record fields are lazy. */
export type Value =
  | null
  | boolean
  | number
  | string
  | Date
  | Value[]
  | Func
  | RecordValue
  | Binary
  | Duration
  | TypeValue
  | Table

export type Func = (...args: Value[]) => Value
export type Thunk = () => Value

export class RecordValue {
  readonly fields: ReadonlyMap<string, Thunk>
  constructor(fields: Iterable<readonly [string, Thunk]>) {
    this.fields = new Map(fields)
  }
  static of(values: object): RecordValue {
    return new RecordValue(
      Object.entries(values).map(([name, value]) => [name, () => value as Value] as const),
    )
  }
}

export class Binary {
  readonly text: string
  readonly metadata: RecordValue
  constructor(text: string, metadata = RecordValue.of({})) {
    this.text = text
    this.metadata = metadata
  }
}

export class Duration {
  readonly ms: number
  constructor(ms: number) {
    this.ms = ms
  }
}

export interface Column {
  name: string
  type: TypeValue
}

export class TypeValue {
  readonly name: string
  readonly isNullable: boolean
  /** Of a table. */
  readonly columns: readonly Column[]
  constructor(name: string, isNullable = false, columns: readonly Column[] = []) {
    this.name = name
    this.isNullable = isNullable
    this.columns = columns
  }
}

export class Table {
  readonly columns: readonly Column[]
  readonly rows: readonly (readonly Value[])[]
  constructor(columns: readonly Column[], rows: readonly (readonly Value[])[]) {
    this.columns = columns
    this.rows = rows
  }
}

/** An error that M raises, as Power Query displays it. */
export class MError extends Error {
  constructor(reason: string, message: string) {
    super(`${reason}: ${message}`)
  }
}

/** Evaluates at most once. */
export function lazily(evaluate: Thunk): Thunk {
  let value: Value | undefined
  return () => {
    value ??= evaluate()
    return value
  }
}

const KINDS: Readonly<Record<string, (value: Value) => boolean>> = {
  text: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  'Currency.Type': (value) => typeof value === 'number' && Math.round(value * 1e4) / 1e4 === value,
  'Int64.Type': Number.isInteger,
  datetimezone: (value) => value instanceof Date,
  binary: (value) => value instanceof Binary,
  record: (value) => value instanceof RecordValue,
  list: Array.isArray,
}

/** @throws MError for a value that is not of the type */
export function checkType(value: Value, { name, isNullable }: TypeValue): Value {
  const isOf = KINDS[name]
  if (isOf === undefined) throw new Error(`unsupported type: ${name}`)
  if (isNullable && value === null) return value
  if (!isOf(value)) throw new MError('Expression.Error', `${value} is no value of type ${name}`)
  return value
}
