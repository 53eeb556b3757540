import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { generatedFiles } from '../../../scripts/openapi/generated.ts'
import { managementErrorCatalogue } from '../../../src/openapi/management/schemas.ts'

interface Operation {
  operationId: string
  parameters: { name: string; in: string; example?: unknown; schema: object }[]
  requestBody?: { content: Record<string, { schema: object; example: unknown }> }
  responses: Record<string, { $ref?: string; content?: object }>
}
interface Schema {
  description?: string
  examples?: unknown[]
  properties?: Record<string, Schema>
  items?: Schema
  const?: unknown
  type?: string
  $ref?: string
}

const document = JSON.parse(generatedFiles()['management.json'])
const paths: Record<string, Record<string, Operation>> = document.paths
const routes = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
)
const changes = routes.filter(({ method }) => method !== 'get')

const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)
ajv.addSchema(document, 'management')

describe('the description of the management API', () => {
  it('the description of the management API is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(document))
    expect(result).toEqual({ valid: true })
  })

  it('names every operation once', () => {
    const ids = routes.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('contains no dangling reference', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)]
    const find = (path = '') => path.split('/').reduce((part, key) => part?.[key], document)
    expect(references.length).toBeGreaterThan(100)
    expect(references.filter(([, path]) => find(path) === undefined)).toEqual([])
  })

  it('declares exactly the parameters that its paths contain', () => {
    for (const { path, parameters } of routes) {
      const inPath = parameters.filter((parameter) => parameter.in === 'path')
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      expect(inPath.map(({ name }) => name)).toEqual(names)
    }
  })

  it('accepts an Idempotency-Key on every POST except the ingestion', () => {
    const accepting = routes.filter(({ parameters }) =>
      parameters.some(({ name }) => name === 'Idempotency-Key'),
    )
    const posts = routes.filter(({ method }) => method === 'post')
    expect(accepting.map(({ path }) => path)).toEqual(
      posts.map(({ path }) => path).filter((path) => path !== '/v1/source-orders'),
    )
  })

  it.each(routes)('documents the errors of $method $path', ({ responses }) => {
    expect(Object.keys(responses)).toEqual(
      expect.arrayContaining(['400', '401', '404', '500', '503']),
    )
  })

  it.each(changes)('documents what refuses a change by $method $path', ({ responses }) => {
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['403', '413', '415']))
  })

  it.each(routes)(
    'mentions conflicts and Idempotency-Key only where they exist: $method $path',
    ({ parameters, responses }) => {
      const takesKey = parameters.some(({ name }) => name === 'Idempotency-Key')
      expect('409' in responses).toBe(takesKey)
      const unavailable = responses['503']?.$ref?.split('/').at(-1) ?? ''
      const { description } = document.components.responses[unavailable]
      expect(description.includes('Idempotency-Key')).toBe(takesKey)
    },
  )

  it('shows every error of the catalogue with an example that matches its schema', () => {
    const validate = ajv.getSchema('management#/components/schemas/Error')
    const examples = [...JSON.stringify(document).matchAll(/"value":(\{"error":\{.*?\}\})/g)].map(
      ([, json = '']) => JSON.parse(json),
    )
    expect(examples.filter((example) => !validate?.(example))).toEqual([])
    expect(new Set(examples.map(({ error }) => error.code))).toEqual(
      new Set(Object.keys(managementErrorCatalogue)),
    )
  })
})

describe('the requests of the management API', () => {
  const bodies = routes.flatMap(({ operationId, requestBody }) =>
    Object.entries(requestBody?.content ?? {}).map(([type, { schema, example }]) => ({
      ...{ operationId, type, schema, example },
    })),
  )

  it.each(bodies)('$operationId has a valid example of $type', ({ schema, example }) => {
    // References are relative to the document.
    const absolute = JSON.stringify(schema).replaceAll('"#/', '"management#/')
    expect(ajv.validate(JSON.parse(absolute), example)).toBe(true)
  })

  it.each(bodies.filter(({ operationId }) => operationId !== 'source_orders_push'))(
    '$operationId refuses unknown fields',
    ({ schema, example }) => {
      expect(ajv.validate(schema, { ...Object(example), campo: 1 })).toBe(false)
    },
  )

  it('have valid examples of their parameters', () => {
    const examples = routes.flatMap(({ parameters }) => parameters)
    const wrong = examples.filter(
      ({ schema, example }) => example !== undefined && !ajv.validate(schema, example),
    )
    expect(wrong).toEqual([])
  })
})

describe('the resources of the management API', () => {
  const resources = Object.entries<Schema>(document.components.schemas)
    .filter(([name]) => !['SourceOrder', 'SourceDeletion', 'Error'].includes(name))
    .flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).map(([key, schema]) => ({ path: `${name}.${key}`, schema })),
    )

  it.each(resources)('describe $path', ({ schema }) => {
    expect(schema.description).toMatch(/\S/)
  })

  it('have valid examples', () => {
    const wrong = resources.flatMap(({ path, schema: { examples = [], ...schema } }) =>
      schema.items?.$ref || examples.every((example) => ajv.validate(schema, example)) ? [] : path,
    )
    expect(wrong).toEqual([])
  })
})
