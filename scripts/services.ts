import { setInterval } from 'node:timers'
import { keepTemporaryFilesInMemory } from '../test/harness/processes/temporary-folder.ts'
import { provideServices } from '../test/harness/services/provide.ts'

// Starts OpenSearch and Redis for development, prints their variables, and runs until a signal.
// After a SIGKILL, scratch.ts cleans up. TMPDIR selects a folder with more room than memory has.
keepTemporaryFilesInMemory(process.env)

const services = await provideServices({ env: process.env, log: console.error })
if ('missing' in services) {
  console.error(services.missing.join('\n'))
  process.exit(1)
}
for (const [variable, url] of Object.entries(services.env))
  console.log(`export ${variable}='${url}'`)
console.error('Ready. Ctrl-C ends them.')

const alive = setInterval(() => {}, 60_000) // Keeps this process alive when no service was started.
const stop = async () => {
  clearInterval(alive)
  await services.stop()
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop)
