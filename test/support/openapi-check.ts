import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

const document = JSON.parse(
  readFileSync(new URL('../../openapi/openapi.json', import.meta.url), 'utf8'),
)
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema(document, 'openapi')

interface Answer {
  url: string
  status: number
  headers: Record<string, unknown>
  json: unknown
}

/** Fails unless the committed description knows this answer: its status, its headers, its body. */
export function expectDescribed({ url, status, headers, json }: Answer): void {
  const path = new URL(url, 'http://x').pathname
  const template = path === '/v1/orders' ? '/v1/orders' : '/v1/orders/{id}'
  // A route that does not exist has no description of its own; its errors are those of any other.
  const responses = document.paths[template].get.responses
  const response = responses[status] ?? document.paths['/v1/orders/{id}'].get.responses[status]
  if (response === undefined) throw new Error(`${path} answers ${status}, which is not described`)

  const { $ref } = response.content['application/json'].schema
  const validate = ajv.getSchema(`openapi${$ref}`)
  if (!validate?.(json)) {
    throw new Error(
      `${path} ${status}: ${ajv.errorsText(validate?.errors)}\n${JSON.stringify(json)}`,
    )
  }
  for (const [name, { schema }] of Object.entries<{ schema: object }>(response.headers)) {
    const value = headers[name.toLowerCase()]
    if (value === undefined) continue
    const typed = 'type' in schema && schema.type === 'integer' ? Number(value) : value
    if (!ajv.validate(schema, typed)) throw new Error(`${path} ${status}: header ${name}: ${value}`)
  }
}
