import { readFile } from 'node:fs/promises'
import { compile, type JSONSchema } from 'json-schema-to-typescript'

const DOCUMENT = new URL('../../openapi/openapi.json', import.meta.url)
const BANNER = '// Generated from openapi/openapi.json by `npm run openapi`. Not to be edited.'

/** Output that the compiler adds: the root interface and the provenance comments. */
const ROOT = /export interface Schemas \{[^}]*\}\n/
const PROVENANCE =
  / \*\n \* This interface was referenced by `Schemas`'s JSON-Schema\n \* via the `definition` ".*"\.\n/g

interface Parameter {
  name: string
  in: string
  description: string
  schema: Schema
}
interface Schema extends JSONSchema {
  'x-extensible-enum'?: string[]
}

/** Renders the types of the client: every named schema and the list parameters. */
export async function renderClientTypes(): Promise<string> {
  const { components, paths } = JSON.parse(await readFile(DOCUMENT, 'utf8'))
  // Renamed, because `Error` is a global of the language.
  const { Error: ErrorBody, ...schemas } = components.schemas
  const root = { definitions: { ...schemas, ErrorBody, ListParams: listParams(paths) } }
  const schema = JSON.parse(JSON.stringify(root, asDefinition))
  const types = await compile(schema, 'Schemas', {
    bannerComment: BANNER,
    unreachableDefinitions: true,
    additionalProperties: false, // Later fields pass through at run time.
    style: { semi: false, singleQuote: true, printWidth: 100, trailingComma: 'all' },
  })
  return types.replace(ROOT, '').replaceAll(PROVENANCE, '')
}

function listParams(paths: { '/v1/orders': { get: { parameters: Parameter[] } } }): Schema {
  const query = paths['/v1/orders'].get.parameters.filter((parameter) => parameter.in === 'query')
  return {
    type: 'object',
    description: 'Parâmetros de `GET /v1/orders`.',
    properties: Object.fromEntries(
      query.map(({ name, description, schema }) => [name, { ...accepted(schema), description }]),
    ),
  }
}

/** Parameter types for JavaScript: also a `Date` for an instant, and a single value for a list. */
function accepted(schema: Schema): Schema {
  if (schema.format === 'date-time') return { ...schema, tsType: 'string | Date' }
  const items = schema.items as Schema | undefined
  if (items === undefined) return schema
  const values = items.enum
  if (values === undefined) return { ...schema, tsType: 'string | readonly string[]' }
  const union = values.map((value) => `'${value}'`).join(' | ')
  return { ...schema, tsType: `(${union}) | readonly (${union})[]` }
}

/**
 * Converts references and tuples to the JSON Schema that the compiler knows. An open list is any
 * text, and editors offer its known values.
 */
function asDefinition(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return value.replace('#/components/schemas/', '#/definitions/')
  if (typeof value !== 'object' || value === null) return value
  if ('prefixItems' in value) {
    const { prefixItems, ...rest } = value
    return { ...rest, items: prefixItems }
  }
  if (!('x-extensible-enum' in value)) return value
  const { 'x-extensible-enum': known, ...rest } = value as Schema
  const nullable = [rest.type].flat().includes('null') ? ' | null' : ''
  const values = (known ?? []).map((one) => `'${one}'`).join(' | ')
  // In parentheses, because the compiler appends `[]` to the items of an array.
  return { ...rest, tsType: `(${values} | (string & {})${nullable})` }
}
