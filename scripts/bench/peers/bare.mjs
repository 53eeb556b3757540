import { readFileSync } from 'node:fs'
import Fastify from 'fastify'

// The least that Fastify can do: a route for each answer in the file that is named, the same bytes every
// time, no log. JavaScript, so that its start has nothing to strip.
const app = Fastify()
for (const { path, status, headers, body } of JSON.parse(readFileSync(process.argv[2], 'utf8'))) {
  app.get(path, (_request, reply) => {
    reply.code(status).headers(headers).send(body)
  })
}
const origin = await app.listen({ port: Number(process.env.PORT) })
console.log(`Server listening at ${origin}`)
if (process.env.OPERATIONS_PORT) await import('./operations.ts')
