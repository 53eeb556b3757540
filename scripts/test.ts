import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'
import { provideServices } from './services/provide.ts'
import { selectedServicesTiers } from './services/tiers.ts'

// Runs vitest, with the services if a selected tier needs them; arguments are vitest's.
const args = process.argv.slice(2)
const tiers = selectedServicesTiers(args)
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

if (isMissing) {
  const isFailure = process.env['CI'] === 'true'
  console.error(`\nThese tiers did not run: ${tiers.join(', ')}.`)
  for (const sentence of services.missing) console.error(`- ${sentence}`)
  if (isFailure) {
    console.error('With CI=true that is a failure.')
    process.exitCode ||= 1
  }
} else {
  await services.stop()
}
