import type { Ast } from '@microsoft/powerquery-parser/lib/powerquery-parser/language/index.js'
import { TypeValue, type Value } from './values.ts'

/** The value of a type's notation; `named` resolves a name such as `Currency.Type`. */
export function typeOf(node: Ast.TNode, named: (name: string) => Value): TypeValue {
  switch (node.kind) {
    case 'PrimitiveType':
      return new TypeValue(node.primitiveTypeKind)
    case 'NullablePrimitiveType':
    case 'NullableType': {
      const { name, columns } = typeOf(node.paired, named)
      return new TypeValue(name, true, columns)
    }
    case 'IdentifierExpression':
      return named(node.identifier.literal) as TypeValue
    case 'TableType':
      return new TypeValue('table', false, columnsOf(node.rowType, named))
    default:
      throw new Error(`unsupported type: ${node.kind}`)
  }
}

function columnsOf(node: Ast.TableType['rowType'], named: (name: string) => Value) {
  if (node.kind !== 'FieldSpecificationList') throw new Error('expected the columns of a table')
  return node.content.elements.map(({ node: field }) => {
    const type = field.fieldTypeSpecification?.fieldType
    if (type === undefined) throw new Error(`column ${field.name.literal} has no type`)
    return { name: field.name.literal, type: typeOf(type, named) }
  })
}
