import fp from 'fastify-plugin'
import { openApiDocument } from '../openapi/document.ts'
import { JSON_TYPE } from './headers.ts'

/** The API's own description, for anybody to read. */
export default fp(
  async (app) => {
    let json: string | undefined
    app.get('/openapi.json', async (_request, reply) => {
      json ??= JSON.stringify(openApiDocument())
      return reply.type(JSON_TYPE).send(json)
    })
  },
  { name: 'openapi', dependencies: ['error-handler'] },
)
