import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

const document = JSON.parse(
  readFileSync(new URL('../../../openapi/openapi.json', import.meta.url), 'utf8'),
)
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema(closed(document), 'openapi')

interface Answer {
  url: string
  status: number
  headers: Record<string, unknown>
  json: unknown
}

// Standard HTTP headers, which the description omits.
const PLAIN_HEADERS = ['content-type', 'content-length', 'date', 'connection', 'keep-alive', 'vary']
// Only some responses have these.
const OPTIONAL_HEADERS = ['ignored-params', 'preference-applied']

/** Fails unless the committed description covers the whole response: status, headers, body. */
export function expectMatchesOpenApi({ url, status, headers, json }: Answer): void {
  const path = new URL(url, 'http://x').pathname
  const template = path === '/v1/orders' ? '/v1/orders' : '/v1/orders/{id}'
  // The description has no unknown routes; their errors equal those of any other route.
  const responses = document.paths[template].get.responses
  const response = responses[status] ?? document.paths['/v1/orders/{id}'].get.responses[status]
  const fail: (what: string) => never = (what) => {
    throw new Error(`${path} ${status}: ${what}\n${JSON.stringify(json)}`)
  }
  if (response === undefined) fail('not described')

  const schema = response.content?.['application/json'].schema
  if (schema === undefined) {
    if (json != null) fail('has a body')
  } else {
    const validate = ajv.getSchema(`openapi${schema.$ref}`)
    if (!validate?.(json)) fail(ajv.errorsText(validate?.errors))
  }

  const described = new Map<string, { type?: string }>()
  for (const [name, header] of Object.entries<{ schema: object }>(response.headers)) {
    described.set(name.toLowerCase(), header.schema)
  }
  for (const [name, schema] of described) {
    const value = headers[name]
    if (value === undefined) {
      // A blocked address or a failed key lookup precedes the account's identification.
      const isAnonymous = [429, 503].includes(status) && name.startsWith('ratelimit-')
      if (!isAnonymous && !OPTIONAL_HEADERS.includes(name)) fail(`header ${name} is missing`)
    } else if (!ajv.validate(schema, schema.type === 'integer' ? Number(value) : value)) {
      fail(`header ${name}: ${value}`)
    }
  }
  const unknown = Object.keys(headers).filter((name) => !described.has(name))
  const undescribed = unknown.filter((name) => !PLAIN_HEADERS.includes(name))
  if (undescribed.length > 0) fail(`headers not described: ${undescribed}`)
}

/** The same schemas, with additional properties forbidden. */
function closed(schema: unknown): object {
  if (Array.isArray(schema)) return schema.map((part) => (isObject(part) ? closed(part) : part))
  const parts = Object.entries(schema as object).map(([key, part]) => {
    return [key, isObject(part) ? closed(part) : part]
  })
  const copy = Object.fromEntries(parts)
  return isObject(copy.properties) ? { ...copy, additionalProperties: false } : copy
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
