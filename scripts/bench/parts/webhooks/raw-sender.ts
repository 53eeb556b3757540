import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'

// The least that a sender of webhooks can do: POST the bodies of a file to the receiver, in a
// process of its own. `POST /<count>` runs the loop once and responds at its end.
// Arguments: the URL of an endpoint, the file with the bodies, the number of connections.
const [url = '', file = '', connections = '1'] = process.argv.slice(2)
const { origin, pathname: path } = new URL(url)
const bodies = (JSON.parse(readFileSync(file, 'utf8')) as string[]).map((text) => Buffer.from(text))
let sent = 0
const pool = new Pool(origin, { connections: Number(connections) })

async function send(count: number): Promise<void> {
  let left = count
  async function drive() {
    while (left > 0) {
      left -= 1
      const body = bodies[left % bodies.length] ?? null
      sent += 1
      const headers = { 'content-type': 'application/json', 'webhook-id': `evt_${sent}` }
      const response = await pool.request({ path, method: 'POST', headers, body })
      await response.body.dump()
      if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`)
    }
  }
  await Promise.all(Array.from({ length: Number(connections) }, drive))
}

const server = createServer((request, response) => {
  send(Number(request.url?.slice(1))).then(
    () => response.end(),
    (error) => response.destroy(error),
  )
})
await once(server.listen(0, '127.0.0.1'), 'listening')
console.log(`Server listening at http://127.0.0.1:${(server.address() as AddressInfo).port}`)
await import('../../baselines/operations.ts')
