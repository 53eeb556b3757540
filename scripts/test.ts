import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'
import { tellLacking } from './services/choose.ts'
import { findOnPath } from './services/path.ts'
import { provideServices } from './services/provide.ts'
import { ownRedisTiers, selectedTiers, servicesTiers } from './services/tiers.ts'

// Runs vitest, with the services if a selected tier needs them; arguments are vitest's.
const args = process.argv.slice(2)
const tiers = selectedTiers(servicesTiers, args)
const ownRedis = findOnPath('redis-server', process.env) ? [] : selectedTiers(ownRedisTiers, args)
const services =
  tiers.length === 0
    ? { env: {}, stop: async () => {} }
    : await provideServices({ env: process.env, log: console.error })
const isMissing = 'missing' in services

const vitest = spawn(
  process.execPath,
  [fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url)), 'run', ...args],
  { stdio: 'inherit', env: { ...process.env, ...(isMissing ? {} : services.env) } },
)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => vitest.kill(signal))
const [code, signal] = await once(vitest, 'exit')
process.exitCode = code ?? 128 + constants.signals[signal as NodeJS.Signals]

if (!isMissing) await services.stop()
const left = [...(isMissing ? tiers : []), ...ownRedis]
if (left.length > 0) {
  console.error(`\nThese tiers did not run: ${left.join(', ')}.`)
  const reasons = isMissing ? services.missing : [tellLacking('faults', ['redis-server'])]
  for (const sentence of reasons) console.error(`- ${sentence}`)
  if (process.env['CI'] === 'true') {
    console.error('With CI=true that is a failure.')
    process.exitCode ||= 1
  }
}
