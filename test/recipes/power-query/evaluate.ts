import type { Ast } from '@microsoft/powerquery-parser/lib/powerquery-parser/language/index.js'
import { operate } from './operators.ts'
import { typeOf } from './types.ts'
import { checkType, lazily, MError, RecordValue, type Thunk, type Value } from './values.ts'

/** Names and their values; an inner scope includes the outer one. */
export type Scope = ReadonlyMap<string, Thunk>

type Node = Ast.TNode

/**
 * Evaluates an expression of M, limited to the kinds in the recipe. `let` and fields are lazy;
 * arguments and items are eager.
 * @throws MError what M raises
 */
export function evaluate(node: Node, scope: Scope): Value {
  switch (node.kind) {
    case 'LetExpression':
      return evaluate(node.expression, within(scope, pairsOf(node.variableList)))
    case 'LiteralExpression':
      return literalOf(node.literal)
    case 'IdentifierExpression':
      return named(node.identifier.literal, scope)
    case 'ParenthesizedExpression':
      return evaluate(node.content, scope)
    case 'RecordExpression':
      return recordOf(node, scope)
    case 'ListExpression':
      return itemsOf(node.content).map((item) => evaluate(item, scope))
    case 'FunctionExpression':
      return functionOf(node, scope)
    case 'EachExpression':
      return (item) => evaluate(node.paired, new Map([...scope, ['_', () => item ?? null]]))
    case 'RecursivePrimaryExpression':
      return node.recursiveExpressions.elements.reduce<Value>(
        (value, step) => stepped(value, step, scope),
        evaluate(node.head, scope),
      )
    case 'FieldSelector':
      return stepped(named('_', scope), node, scope)
    case 'IfExpression':
      return evaluate(node.condition, scope) === true
        ? evaluate(node.trueExpression, scope)
        : evaluate(node.falseExpression, scope)
    case 'ErrorRaisingExpression':
      throw raised(evaluate(node.paired, scope))
    case 'ErrorHandlingExpression':
      return tried(node, scope)
    case 'TypePrimaryType':
      return typeOf(node.paired, (name) => named(name, scope))
    case 'ArithmeticExpression':
    case 'EqualityExpression':
    case 'LogicalExpression':
    case 'RelationalExpression':
      return operate(node.operatorConstant.constantKind, {
        left: () => evaluate(node.left, scope),
        right: () => evaluate(node.right, scope),
      })
    default:
      throw new Error(`unsupported node: ${node.kind}`)
  }
}

interface List<T> {
  elements: readonly { node: T }[]
}
const itemsOf = <T>({ elements }: List<T>): T[] => elements.map(({ node }) => node)

interface Pair {
  key: { literal: string }
  value: Node
}
const pairsOf = (list: List<Pair>) =>
  itemsOf(list).map(({ key, value }) => [key.literal, value] as const)

/** A scope whose names may reference each other. */
function within(scope: Scope, pairs: readonly (readonly [string, Node])[]): Scope {
  const inner = new Map(scope)
  for (const [name, value] of pairs)
    inner.set(
      name,
      lazily(() => evaluate(value, inner)),
    )
  return inner
}

function recordOf(node: Ast.RecordExpression, scope: Scope): RecordValue {
  const pairs = pairsOf(node.content)
  const inner = within(scope, pairs)
  return new RecordValue(pairs.map(([name]) => [name, () => named(name, inner)] as const))
}

function functionOf(node: Ast.FunctionExpression, scope: Scope): Value {
  const parameters = itemsOf(node.parameters.content).map(({ name, parameterType }) => ({
    name: name.literal,
    type: parameterType && typeOf(parameterType.paired, (type) => named(type, scope)),
  }))
  const returned = node.functionReturnType
  return (...args) => {
    if (args.length !== parameters.length) {
      throw new MError('Expression.Error', `${args.length} arguments were passed`)
    }
    const inner = new Map(scope)
    parameters.forEach(({ name, type }, at) => {
      const value = args[at] ?? null
      inner.set(name, () => (type ? checkType(value, type) : value))
    })
    const value = evaluate(node.expression, inner)
    return returned
      ? checkType(
          value,
          typeOf(returned.paired, (type) => named(type, scope)),
        )
      : value
  }
}

type Step = Ast.RecursivePrimaryExpression['recursiveExpressions']['elements'][number]

/** Applies one call or one field access to a value. */
function stepped(value: Value, step: Step, scope: Scope): Value {
  if (step.kind === 'InvokeExpression') {
    if (typeof value !== 'function') throw new MError('Expression.Error', 'this is no function')
    return value(...itemsOf(step.content).map((argument) => evaluate(argument, scope)))
  }
  if (step.kind !== 'FieldSelector') throw new Error(`unsupported node: ${step.kind}`)
  const name = step.content.literal
  const field = value instanceof RecordValue ? value.fields.get(name) : undefined
  if (field === undefined) throw new MError('Expression.Error', `there is no field '${name}'`)
  return field()
}

function named(name: string, scope: Scope): Value {
  const value = scope.get(name)
  if (value === undefined) throw new MError('Expression.Error', `there is no name '${name}'`)
  return value()
}

function literalOf(literal: string): Value {
  if (literal.startsWith('"')) return literal.slice(1, -1).replaceAll('""', '"')
  const words: Record<string, Value> = { null: null, true: true, false: false }
  return literal in words ? (words[literal] ?? null) : Number(literal)
}

function raised(value: Value): MError {
  if (!(value instanceof RecordValue)) return new MError('Expression.Error', String(value))
  const read = (name: string) => String(value.fields.get(name)?.() ?? '')
  return new MError(read('Reason'), read('Message'))
}

function tried(node: Ast.TErrorHandlingExpression, scope: Scope): Value {
  const otherwise = node.handler
  if (otherwise?.kind !== 'OtherwiseExpression') throw new Error('expected try with otherwise')
  try {
    return evaluate(node.protectedExpression, scope)
  } catch (error) {
    if (!(error instanceof MError)) throw error
    return evaluate(otherwise.paired, scope)
  }
}
