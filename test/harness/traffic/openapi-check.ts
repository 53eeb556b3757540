import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

interface Described {
  content?: { 'application/json': { schema: { $ref: string } } }
  headers: Record<string, HeaderObject | { $ref: string }>
}
interface HeaderObject {
  schema: { type?: string }
}
type Responses = Record<string, Described | { $ref: string }>

/** A response, with its request. */
export interface CheckedResponse {
  method?: string
  url: string
  status: number
  headers: Record<string, unknown>
  json: unknown
}

// Standard HTTP headers, which the description omits.
const PLAIN_HEADERS = ['content-type', 'content-length', 'date', 'connection', 'keep-alive', 'vary']
// Only some responses have these.
const OPTIONAL_HEADERS = ['ignored-params', 'preference-applied', 'idempotent-replayed']

const PLAIN_PATHS = ['/v1/orders', '/v1/account']

const publicApi = openDescription('openapi.json')
const managementApi = openDescription('management.json')

/** Fails unless the committed description covers the whole response: status, headers, body. */
export function expectMatchesOpenApi({ url, status, headers, json }: CheckedResponse): void {
  const path = new URL(url, 'http://x').pathname
  const template = PLAIN_PATHS.includes(path) ? path : '/v1/orders/{id}'
  // The description has no unknown routes; their errors equal those of any other route.
  const response =
    publicApi.find(template, 'get', status) ?? publicApi.find('/v1/orders/{id}', 'get', status)
  // A blocked address or a failed key lookup precedes the account's identification.
  const isAnonymous = [429, 503].includes(status)
  const isOptional = (name: string) => isAnonymous && name.startsWith('ratelimit-')
  publicApi.check(response, { url, status, headers, json }, isOptional)
}

/**
 * Fails unless the committed description of the management API covers the whole response to this
 * method and path. An unknown route must respond as a described one rejects.
 */
export function checkManagementResponse(answer: CheckedResponse): void {
  const { pathname } = new URL(answer.url, 'http://x')
  // Fastify responds to HEAD as GET, without a body.
  const method = (answer.method ?? 'GET').toLowerCase().replace('head', 'get')
  const template = managementApi.templateOf(pathname, method)
  const response =
    template === undefined
      ? UNROUTED_STATUSES.includes(answer.status) &&
        managementApi.find('/v1/source-orders', 'post', answer.status)
      : managementApi.find(template, method, answer.status)
  // Only a conflict that ends by itself has it.
  const isOptional = (name: string) => answer.status === 409 && name === 'retry-after'
  managementApi.check(response || undefined, answer, isOptional)
}

/** Every operation of the management API, such as `GET /v1/accounts/{account}/keys`. */
export const managementOperations: readonly string[] = managementApi.operations

/** The operation of a request to the management API; `undefined` when it is not described. */
export function managementOperationOf(method: string, path: string): string | undefined {
  const template = managementApi.templateOf(path, method.toLowerCase())
  return template && `${method} ${template}`
}

/** Without a token, and with one. */
const UNROUTED_STATUSES = [401, 404]

/** A committed description, and the checks of responses against it. */
function openDescription(file: string) {
  const document = JSON.parse(
    readFileSync(new URL(`../../../openapi/${file}`, import.meta.url), 'utf8'),
  )
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema(closed(document), file)
  const paths: Record<string, Record<string, { responses: Responses }>> = document.paths
  const templates = Object.keys(paths).map((template) => ({
    template,
    pattern: new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`),
  }))

  function resolve<T extends object>(part: T | { $ref: string }): T {
    if (!('$ref' in part)) return part
    const keys = part.$ref.split('/').slice(1)
    return keys.reduce((inner, key) => inner[key], document)
  }

  return {
    operations: Object.entries(paths).flatMap(([template, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${template}`),
    ),

    templateOf: (path: string, method: string): string | undefined =>
      templates.find(({ template, pattern }) => pattern.test(path) && paths[template]?.[method])
        ?.template,

    find(template: string, method: string, status: number): Described | undefined {
      const response = paths[template]?.[method]?.responses[status]
      return response && resolve(response)
    },

    /** `isOptional`: whether a described header may be missing. */
    check(
      response: Described | undefined,
      { method = 'GET', url, status, headers, json }: CheckedResponse,
      isOptional: (header: string) => boolean = () => false,
    ): void {
      const fail: (what: string) => never = (what) => {
        throw new Error(`${method} ${url} ${status}: ${what}\n${JSON.stringify(json)}`)
      }
      if (response === undefined) fail('not described')

      const schema = response.content?.['application/json'].schema
      if (schema === undefined) {
        if (json != null) fail('has a body')
      } else if (method !== 'HEAD') {
        const validate = ajv.getSchema(`${file}${schema.$ref}`)
        if (!validate?.(json)) fail(ajv.errorsText(validate?.errors))
      }

      const described = Object.entries(response.headers).map(
        ([name, header]) => [name.toLowerCase(), resolve(header)] as const,
      )
      for (const [name, { schema }] of described) {
        const value = headers[name]
        if (value === undefined) {
          if (!OPTIONAL_HEADERS.includes(name) && !isOptional(name))
            fail(`header ${name} is missing`)
        } else if (!ajv.validate(schema, schema.type === 'integer' ? Number(value) : value)) {
          fail(`header ${name}: ${value}`)
        }
      }
      const names = new Set([...PLAIN_HEADERS, ...described.map(([name]) => name)])
      const undescribed = Object.keys(headers).filter((name) => !names.has(name))
      if (undescribed.length > 0) fail(`headers not described: ${undescribed}`)
    },
  }
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
