import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { generatedFiles } from '../../../scripts/openapi/generated.ts'
import { errorCatalogue } from '../../../src/http/api-error.ts'
import { projectOrder } from '../../../src/indexing/projection/order-views.ts'
import { operationIds } from '../../../src/openapi/operations.ts'
import { listParamNames } from '../../../src/orders/list-params.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'

interface Schema {
  description?: string
  examples?: unknown[]
  type?: string | string[]
  format?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  $ref?: string
}

const document = JSON.parse(generatedFiles()['openapi.json'])
const schemas: Record<string, Schema> = document.components.schemas
const paths = ['/v1/orders', '/v1/orders/{id}', '/v1/account']
const operations = paths.map((path) => document.paths[path].get)

const nameIn = ($ref = '') => $ref.replace('#/components/schemas/', '')
const isReference = (schema: Schema) =>
  [schema, schema.items, ...(schema.anyOf ?? [])].some((one) => one?.$ref !== undefined)

/** Every property of the named schemas, with its path. */
const properties = Object.entries(schemas).flatMap(([name, { properties: own = {} }]) =>
  Object.entries(own).map(([key, schema]) => ({ path: `${name}.${key}`, schema })),
)
const orderParts = properties.filter(({ path }) => !/^(Error|OrderList)\./.test(path))

const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)
ajv.addSchema(document, 'openapi')

describe('the description of the API', () => {
  it('the description of the API is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(document))
    expect(result).toEqual({ valid: true })
  })

  it('contains exactly three routes, all with the key', () => {
    expect(Object.keys(document.paths)).toEqual(paths)
    expect(document.security).toEqual([{ apiKey: [] }])
    expect(document.components.securitySchemes.apiKey).toMatchObject({
      type: 'http',
      scheme: 'bearer',
    })
  })

  it('contains no dangling reference', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)]
    const missing = references.map(([, $ref]) => nameIn($ref)).filter((name) => !(name in schemas))
    expect(missing).toEqual([])
  })
})

describe('the operations', () => {
  it('the operations have the documented parameters', () => {
    const [list, get, account] = operations
    const namesOf = ({ parameters }: { parameters: { name: string }[] }) =>
      parameters.map(({ name }) => name)
    const headers = ['Prefer', 'If-None-Match']
    expect([namesOf(list), namesOf(get), namesOf(account)]).toEqual([
      [...listParamNames, ...headers],
      ['id', ...headers],
      headers,
    ])
  })

  it('the operations have the operation ids that the changelog uses', () => {
    expect(operations.map(({ operationId }) => operationId)).toEqual(operationIds)
  })

  it('the operations have samples, with a call in one line first', () => {
    const labels = operations.map((operation) =>
      operation['x-codeSamples'].map(({ label }: { label: string }) => label),
    )
    const programs = ['bash com curl', 'JavaScript', 'Python', 'PHP', 'C#', 'Java', 'Delphi']
    expect(labels).toEqual([['curl', ...programs], ['curl', ...programs], ['curl']])
  })

  it('the operations have the documented responses', () => {
    expect(operations.map(({ responses }) => Object.keys(responses))).toEqual([
      ['200', '304', '400', '401', '403', '429', '500', '503'],
      ['200', '304', '400', '401', '403', '404', '429', '500', '503'],
      ['200', '304', '400', '401', '403', '429', '500', '503'],
    ])
  })

  it('the operations show every error code with an example', () => {
    const codes = operations.flatMap(({ responses }) =>
      Object.entries<{ content?: { 'application/json': { examples?: object } } }>(responses)
        .filter(([status]) => status >= '400')
        .flatMap(([, { content }]) => Object.keys(content?.['application/json'].examples ?? {})),
    )
    expect(new Set(codes)).toEqual(new Set(Object.keys(errorCatalogue)))
  })

  it('the operations have a Request-Id on every response', () => {
    const headers = operations.flatMap(({ responses }) =>
      Object.values<{ headers: object }>(responses).map((response) =>
        Object.keys(response.headers),
      ),
    )
    expect(headers.every((names) => names.includes('Request-Id'))).toBe(true)
  })

  it.each(['429', '503'])('the operations have a Retry-After on %s', (status) => {
    for (const { responses } of operations) {
      expect(responses[status].headers).toHaveProperty('Retry-After')
    }
  })

  it.each(['200', '304', '403', '404'])('document the RateLimit headers on every %s', (status) => {
    const promised = operations.flatMap(({ responses }) => responses[status] ?? [])
    for (const { headers } of promised) {
      expect(headers['RateLimit-Remaining']).toMatchObject({ required: true })
    }
    expect(promised).not.toEqual([])
  })

  it('document an ETag on cacheable responses and no-store on errors', () => {
    for (const { responses } of operations) {
      expect(responses[304]).not.toHaveProperty('content')
      for (const status of ['200', '304']) {
        expect(responses[status].headers.ETag).toMatchObject({ required: true })
        const { schema } = responses[status].headers['Cache-Control']
        expect(schema.const).toBe('private, no-cache')
      }
      for (const status of ['400', '401', '403', '429', '500', '503']) {
        expect(responses[status].headers['Cache-Control'].schema.const).toBe('no-store')
      }
    }
  })

  it('the operations show an error that each route can return', () => {
    const example = ({ responses }: (typeof operations)[number]) =>
      responses[400].content['application/json'].examples.invalid_request.value.error
    expect(operations.map((operation) => example(operation).param)).toEqual([
      'limit',
      'expand',
      'expand',
    ])
  })

  it('the operations link a page to the next one, with every parameter that the cursor covers', () => {
    const { nextPage } = operations[0].responses[200].links
    const carried = listParamNames.filter((name) => name !== 'limit')
    expect(new Set(Object.keys(nextPage.parameters))).toEqual(new Set(carried))
    expect(nextPage.operationId).toBe(operations[0].operationId)
  })

  it('document no RateLimit headers on 401', () => {
    for (const { responses } of operations) {
      expect(responses[401].headers).not.toHaveProperty('RateLimit-Limit')
    }
  })

  it('the operations have error examples that match the error schema', () => {
    const validate = ajv.getSchema('openapi#/components/schemas/Error')
    const examples = [...JSON.stringify(operations).matchAll(/"value":(\{"error":\{.*?\}\})/g)]
    expect(examples.length).toBeGreaterThan(10)
    expect(examples.filter(([, value = '']) => !validate?.(JSON.parse(value)))).toEqual([])
  })
})

describe('the schemas', () => {
  it('the schemas name the order and its parts, the list, the account, the events and the error', () => {
    expect(Object.keys(schemas).sort((one, other) => (one < other ? -1 : 1))).toEqual([
      ...['Account', 'AccountKey'],
      ...['Card', 'Customer', 'Error', 'Item', 'Metadata', 'Navigator', 'Offer', 'Order'],
      ...['OrderChange', 'OrderEvent', 'OrderList', 'Payment', 'Promocode', 'ShippingAddress'],
      ...['Tracking', 'Utm', 'WebhookEvent', 'WebhookTestEvent'],
    ])
  })

  it.each(orderParts.filter(({ schema }) => !isReference(schema)))(
    'the schemas describe $path, with an example',
    ({ schema }) => {
      expect(schema.description).toMatch(/\S/)
      expect(schema.examples ?? [schema.const]).not.toContain(undefined)
    },
  )

  it.each(orderParts.filter(({ schema }) => isReference(schema)))(
    'the schemas describe the target of $path',
    ({ schema }) => {
      const inner = [schema, schema.items, ...(schema.anyOf ?? [])].find((one) => one?.$ref)
      expect(schemas[nameIn(inner?.$ref)]?.description).toMatch(/\S/)
    },
  )

  it.each(orderParts.filter(({ schema }) => schema.examples))(
    'the schemas have valid examples for $path',
    ({ schema }) => {
      const validate = ajv.compile(schema)
      expect(schema.examples?.filter((example) => !validate(example))).toEqual([])
    },
  )

  it('the schemas require every key, except of metadata, tracking, a change, a thin event and the mark of a sandbox', () => {
    const open = Object.entries(schemas)
      .filter(([, { properties: own = {}, required = [] }]) => {
        return Object.keys(own).some((key) => !required.includes(key))
      })
      .map(([name]) => name)
    expect(open).toEqual(['Metadata', 'WebhookTestEvent', 'OrderEvent', 'OrderChange'])
  })

  it('the schemas allow keys that a later release adds', () => {
    expect(JSON.stringify(schemas)).not.toContain('"additionalProperties":false')
  })

  // openapi-generator ends with an error on such a property of a model.
  it('the schemas have no property whose type is null alone', () => {
    expect(properties.filter(({ schema }) => schema.type === 'null')).toEqual([])
  })

  // openapi-generator takes 32 bits otherwise: R$ 21,474,836.48 is then an error in Java and Go.
  it('the schemas have 64 bits for every amount of cents, and for the exchange rate', () => {
    const amounts = properties.filter(
      ({ schema }) =>
        [schema.type].flat().includes('integer') && schema.description?.includes('centavos'),
    )
    expect(amounts).toHaveLength(11)
    expect(amounts.filter(({ schema }) => schema.format !== 'int64')).toEqual([])
    const rate = properties.find(({ path }) => path === 'Metadata.currency_rate')
    expect(rate?.schema.format).toBe('double')
  })

  it('the schemas have the codes and types of the catalogue', () => {
    const { code, type } = document.components.schemas.Error.properties.error.properties
    const types = Object.values(errorCatalogue).map((spec) => spec.type)
    expect(code.enum).toEqual(Object.keys(errorCatalogue))
    expect(new Set(type.enum)).toEqual(new Set(types))
  })

  it('the schemas match the output of the projection', () => {
    const validate = ajv.getSchema('openapi#/components/schemas/Order')
    const [view] = projectOrder(sourceOrder()).views
    expect(validate?.(view?.order)).toBe(true)
  })
})
