import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// Imported by a baseline: reports its resource usage on the same port and in the same form as the
// service.
const server = createServer((_request, response) => {
  const { user, system } = process.cpuUsage()
  const metrics = {
    process_cpu_seconds_total: (user + system) / 1e6,
    process_resident_memory_bytes: process.memoryUsage.rss(),
  }
  const lines = Object.entries(metrics).map(([name, value]) => `${name} ${value}\n`)
  response.end(lines.join(''))
})
await once(server.listen(Number(process.env['OPERATIONS_PORT']), '127.0.0.1'), 'listening')
console.log(`operations at http://127.0.0.1:${(server.address() as AddressInfo).port}`)
