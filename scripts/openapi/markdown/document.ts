/** The parts of an OpenAPI schema that the Markdown renders. */
export interface Schema {
  description?: string
  type?: string | string[]
  format?: string
  pattern?: string
  enum?: unknown[]
  const?: unknown
  'x-extensible-enum'?: unknown[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  default?: unknown
  examples?: unknown[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema
  items?: Schema
  prefixItems?: Schema[]
  anyOf?: Schema[]
  allOf?: Schema[]
  deprecated?: boolean
  $ref?: string
}

export interface Parameter {
  name: string
  in: string
  required?: boolean
  description: string
  schema: Schema
  example?: unknown
}

export interface Header {
  description: string
  required?: boolean
  schema: Schema
}

export interface Response {
  description: string
  headers?: Record<string, Header>
  content?: Record<
    string,
    { schema: Schema; examples?: Record<string, { summary?: string; value: unknown }> }
  >
}

export interface Operation {
  operationId: string
  summary: string
  description: string
  deprecated?: boolean
  parameters: Parameter[]
  responses: Record<string, Response>
  'x-codeSamples': { lang: string; label: string; source: string }[]
}

/**
 * An operation of the receiver: what the service sends, and what it understands as the response.
 */
export interface Webhook {
  description: string
  parameters: Parameter[]
  requestBody: {
    content: {
      'application/json': { examples: Record<string, { summary: string; value: unknown }> }
    }
  }
  responses: Record<string, Response>
}

export interface Description {
  info: { title: string; version: string; description: string }
  paths: Record<string, { get: Operation }>
  webhooks: Record<string, { post: Webhook }>
  components: { schemas: Record<string, Schema> }
}

/** An operation of any API, as the page renders it. */
export interface PageOperation extends Omit<Operation, 'x-codeSamples'> {
  requestBody?: { content: Record<string, { schema: Schema; example: unknown }> }
  'x-codeSamples'?: Operation['x-codeSamples']
}

/** The description of any API, as the page renders it. */
export interface PageDescription extends Pick<Description, 'info' | 'components'> {
  paths: Record<string, Record<string, PageOperation>>
  webhooks?: Description['webhooks']
}
