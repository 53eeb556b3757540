import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'
import { keepTemporaryFilesInMemory } from '../test/harness/processes/temporary-folder.ts'
import { provideServices } from '../test/harness/services/provide.ts'
import { describeMissingTools } from '../test/harness/services/service-sources.ts'
import {
  commandsFor,
  ownServicesTiers,
  selectedTiers,
  selectProjects,
  servicesTiers,
} from '../test/harness/tiers.ts'
import { findMissingTools } from '../test/harness/tools/tools.ts'

// Runs vitest, with the services if a selected tier needs them; arguments are vitest's.

// Child JVMs run without the second compiler. This halves the CPU time of a start, and the tests
// would end before the optimisation pays off.
process.env['JAVA_TOOL_OPTIONS'] ??= '-XX:TieredStopAtLevel=1'

keepTemporaryFilesInMemory(process.env)

const { args, leftOut } = selectProjects(process.argv.slice(2))
const tiers = selectedTiers(servicesTiers, args)
const ownTiers = selectedTiers(ownServicesTiers, args)
const services =
  tiers.length === 0
    ? { env: {}, stop: async () => {} }
    : await provideServices({ env: process.env, log: console.error })
const isMissing = 'missing' in services
const ownTiersWithLacks = await Promise.all(
  ownTiers.map(async (tier) => ({
    tier,
    lacking: await findMissingTools(ownServicesTiers[tier].needs, process.env),
  })),
)
const withoutTools = ownTiersWithLacks.filter(({ lacking }) => lacking.length > 0)

const vitest = spawn(
  process.execPath,
  [
    fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url)),
    ...['run', ...args, ...withoutTools.map(({ tier }) => `--project=!${tier}`)],
  ],
  { stdio: 'inherit', env: { ...process.env, ...(isMissing ? {} : services.env) } },
)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => vitest.kill(signal))
const [code, signal] = await once(vitest, 'exit')
process.exitCode = code ?? 128 + constants.signals[signal as NodeJS.Signals]

if (!isMissing) await services.stop()
if (leftOut.length > 0) console.error(`\nLeft out: ${commandsFor(leftOut).join(', ')}.`)
const notRun = [...(isMissing ? tiers : []), ...withoutTools.map(({ tier }) => tier)]
if (notRun.length > 0) {
  console.error(`\nThese tiers did not run: ${notRun.join(', ')}.`)
  const reasons = [
    ...(isMissing ? services.missing : []),
    ...withoutTools.map(({ tier, lacking }) => describeMissingTools(tier, lacking)),
  ]
  for (const sentence of reasons) console.error(`- ${sentence}`)
  if (process.env['CI'] === 'true') {
    console.error('With CI=true that is a failure.')
    process.exitCode ||= 1
  }
}
