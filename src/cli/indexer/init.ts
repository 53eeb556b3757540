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
  'OpenSearch has a clock of its own, which decides: set the clock of this machine right (NTP)'

/** `index init`. */
export function addInit(index: Command, withServices: WithServices, context: CommandContext): void {
  index
    .command('init')
    .description('make the index (the first load or watch does it too)')
    .addOption(
      new Option(
        '--after-loss',
        'begin with an empty index where the index of the orders was lost',
      ).conflicts('trustClock'),
    )
    .option(
      '--trust-clock',
      'embedded store: accept the clock of this machine, which was wrong before and is right now',
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
  return withServices(async ({ initialize, trustClock }) => {
    await initialize()
    if (trustsClock) {
      if (trustClock === null) throw new Error(NO_TRUST)
      trustClock()
    }
    stderr.write('the index is ready\n')
  })
}

async function beginAfterLoss({ env, stderr }: CommandContext): Promise<void> {
  const { created, unused } = await initAfterLoss(parseConfig(env))
  stderr.write(
    `${created} is there again and empty: load every order of the platform with "index load --repair FILE", then look with "index check FILE", and only then start what serves and what watches: a list that is not full yet would have followers drop their copies\n`,
  )
  for (const name of unused) stderr.write(`${name} is not used any more: delete it\n`)
}
