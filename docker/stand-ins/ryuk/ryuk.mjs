import { request } from 'node:http'
import { createServer } from 'node:net'

// The protocol of Ryuk: a client sends a filter per line, and gets an ACK for each. Once no client
// has been connected for ten seconds, everything that a filter matches is removed. The first client
// has a minute to connect.
const RECONNECTION_MS = 10_000
const CONNECTION_MS = 60_000
const filters = new Set()
let clients = 0
let reaping = setTimeout(reap, CONNECTION_MS)

function call(method, path) {
  return new Promise((resolve, reject) => {
    const options = { socketPath: '/var/run/docker.sock', method, path }
    request(options, async (response) => {
      const text = (await response.setEncoding('utf8').toArray()).join('')
      resolve(text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : undefined)
    })
      .on('error', reject)
      .end()
  })
}

async function reap() {
  for (const [kind, value] of [...filters].map((filter) => filter.split(/=(.*)/s))) {
    const query = `filters=${encodeURIComponent(JSON.stringify({ [kind]: [value] }))}`
    for (const { Id } of await call('GET', `/containers/json?all=1&${query}`)) {
      if (!Id.startsWith(process.env.HOSTNAME))
        await call('DELETE', `/containers/${Id}?force=1&v=1`)
    }
    for (const { Id } of await call('GET', `/networks?${query}`)) {
      await call('DELETE', `/networks/${Id}`)
    }
    for (const { Name } of (await call('GET', `/volumes?${query}`)).Volumes ?? []) {
      await call('DELETE', `/volumes/${Name}?force=1`)
    }
  }
  process.exit()
}

createServer((socket) => {
  clients++
  clearTimeout(reaping)
  socket.setEncoding('utf8').on('error', () => {})
  let rest = ''
  socket.on('data', (text) => {
    const lines = (rest + text).split(/\r?\n/)
    rest = lines.pop()
    for (const line of lines) {
      filters.add(line)
      socket.write('ACK\n')
    }
  })
  socket.on('close', () => {
    clients--
    if (clients === 0) reaping = setTimeout(reap, RECONNECTION_MS)
  })
}).listen(8080, () => console.log('Started'))
process.on('SIGTERM', () => process.exit())
