import { readFileSync } from 'node:fs'
import Fastify from 'fastify'

// The minimum of Fastify: a route for each response in the given file, with constant bytes and no
// log. JavaScript, so that Node has no types to strip at the start.
const app = Fastify()
for (const { path, status, headers, body } of JSON.parse(readFileSync(process.argv[2], 'utf8'))) {
  app.get(path, (_request, reply) => {
    reply.code(status).headers(headers).send(body)
  })
}
const origin = await app.listen({ port: Number(process.env.PORT) })
console.log(`Server listening at ${origin}`)
if (process.env.OPERATIONS_PORT) await import('./operations.ts')
