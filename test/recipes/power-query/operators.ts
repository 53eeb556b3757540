import { MError, RecordValue, type Thunk, type Value } from './values.ts'

interface Operands {
  left: Thunk
  right: Thunk
}

const numbers =
  (compute: (left: number, right: number) => Value) =>
  ({ left, right }: Operands): Value => {
    const [one, other] = [left(), right()]
    if (one === null || other === null) return null
    if (typeof one !== 'number' || typeof other !== 'number') {
      throw new MError('Expression.Error', `no operator for ${one} and ${other}`)
    }
    return compute(one, other)
  }

const OPERATORS: Readonly<Record<string, (operands: Operands) => Value>> = {
  '+': numbers((left, right) => left + right),
  '/': numbers((left, right) => left / right),
  '<': numbers((left, right) => left < right),
  '>': numbers((left, right) => left > right),
  '>=': numbers((left, right) => left >= right),
  '=': ({ left, right }) => left() === right(),
  '<>': ({ left, right }) => left() !== right(),
  and: ({ left, right }) => left() === true && right() === true,
  '&': ({ left, right }) => combined(left(), right()),
}

/** @throws MError for operands that the operator does not support */
export function operate(operator: string, operands: Operands): Value {
  const compute = OPERATORS[operator]
  if (compute === undefined) throw new Error(`unsupported operator: ${operator}`)
  return compute(operands)
}

function combined(left: Value, right: Value): Value {
  if (left instanceof RecordValue && right instanceof RecordValue) {
    return new RecordValue([...left.fields, ...right.fields])
  }
  if (left === null || right === null) return null
  if (typeof left === 'string' && typeof right === 'string') return left + right
  throw new MError('Expression.Error', `no operator & for ${left} and ${right}`)
}
