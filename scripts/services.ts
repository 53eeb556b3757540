import { setInterval } from 'node:timers'
import { provideServices } from '../test/harness/services/provide.ts'

// Brings up OpenSearch and Redis for development, prints their variables, and runs until a signal stops it.
// What is killed before that is cleared away as well: see scratch.ts.
const services = await provideServices({ env: process.env, log: console.error })
if ('missing' in services) {
  console.error(services.missing.join('\n'))
  process.exit(1)
}
for (const [variable, url] of Object.entries(services.env))
  console.log(`export ${variable}='${url}'`)
console.error('Ready. Ctrl-C ends them.')

const alive = setInterval(() => {}, 60_000) // Services that were given leave nothing else to wait for.
const stop = async () => {
  clearInterval(alive)
  await services.stop()
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop)
