import type { Parameter, Schema } from './document.ts'

/** Renders a table in GitHub Flavored Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

/** Escapes text for a table cell. */
export function cell(text: string): string {
  return text.trim().replaceAll('|', '\\|').replace(/\n+/g, '<br>')
}

const places: Record<string, string> = { query: 'consulta', path: 'caminho', header: 'cabeçalho' }

/** Where a request has a parameter, in Portuguese. */
export const placeOf = ({ in: place }: Parameter) => places[place] ?? place

/** Describes a schema in Portuguese: its type, a link to a named schema, and its constraints. */
export function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schemaLink(schema.$ref)
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' ou ')
  if (schema.prefixItems !== undefined) return `par de ${schema.prefixItems.map(typeOf)[0]}`
  if (schema.items !== undefined) return `lista de ${typeOf(schema.items)}`
  const types = [schema.type ?? 'string'].flat().map((type) => TYPES[type] ?? type)
  return [types.join(' ou '), ...rulesOf(schema)].join(', ')
}

/** Describes the values of a closed or open list, or gives an example of any other schema. */
export function valuesOf(schema: Schema): string {
  const list = schema.enum ?? schema['x-extensible-enum'] ?? schema.items?.enum
  const open = schema['x-extensible-enum'] === undefined ? '' : ' (a lista pode crescer)'
  if (list !== undefined) return `Valores: ${list.map(code).join(', ')}${open}.`
  const [example] = schema.examples ?? []
  return example === undefined ? '' : `Exemplo: ${code(example)}.`
}

/** A JSON value as a code block. */
export function fenced(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``
}

export function code(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}

const TYPES: Record<string, string> = {
  string: 'texto',
  integer: 'inteiro',
  number: 'número',
  boolean: 'verdadeiro ou falso',
  array: 'lista',
  object: 'objeto',
  null: '`null`',
}

function rulesOf(schema: Schema): string[] {
  const { minimum, maximum, maxLength, format, pattern, default: usual } = schema
  return [
    ...(format === 'date-time' ? ['data e hora com fuso'] : []),
    ...(minimum === undefined ? [] : [`mínimo ${minimum}`]),
    ...(maximum === undefined ? [] : [`máximo ${maximum}`]),
    ...(maxLength === undefined ? [] : [`até ${maxLength} caracteres`]),
    ...(pattern === undefined ? [] : [`forma ${code(pattern)}`]),
    ...(usual === undefined ? [] : [`padrão ${code(usual)}`]),
  ]
}

function schemaLink($ref: string): string {
  const name = $ref.replace('#/components/schemas/', '')
  return `[${name}](#esquema-${name.toLowerCase()})`
}
