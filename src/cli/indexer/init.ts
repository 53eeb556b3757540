import { type Command, Option } from 'commander'
import { parseConfig } from '../../config/config.ts'
import { initAfterLoss } from '../../services.ts'
import type { CommandContext } from '../command-context.ts'
import type { WithServices } from '../with-services.ts'

interface InitFlags {
  afterLoss?: true
  trustClock?: true
}

const NO_TRUST =
  '--trust-clock is for the embedded store: OpenSearch uses its own clock. Synchronise the clock of this machine (NTP)'

/** `index init`. */
export function addInit(index: Command, withServices: WithServices, context: CommandContext): void {
  index
    .command('init')
    .description('create the index (the first load or watch does so too)')
    .addOption(
      new Option('--after-loss', 'create an empty index to replace a lost one').conflicts(
        'trustClock',
      ),
    )
    .option(
      '--trust-clock',
      'embedded store: accept the clock of this machine after it was corrected',
    )
    .action(async ({ afterLoss, trustClock }: InitFlags) =>
      afterLoss ? beginAfterLoss(context) : init(withServices, trustClock ?? false, context),
    )
}

function init(
  withServices: WithServices,
  trustsClock: boolean,
  { stderr }: CommandContext,
): Promise<void> {
  return withServices(async ({ initialize, initializeOthers, trustClock }) => {
    await initialize()
    await initializeOthers()
    if (trustsClock) {
      if (trustClock === null) throw new Error(NO_TRUST)
      trustClock()
    }
    stderr.write('the index is ready\n')
  })
}

async function beginAfterLoss({ env, stderr }: CommandContext): Promise<void> {
  const { created, lost, unused } = await initAfterLoss(parseConfig(env))
  stderr.write(`${created} is empty. ${lost.nextSteps}\n`)
  for (const name of unused) stderr.write(`${name} is no longer used: delete it\n`)
}
