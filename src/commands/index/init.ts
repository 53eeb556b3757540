import type { Command } from 'commander'
import type { WithServices } from '../with-services.ts'

interface InitFlags {
  trustClock?: true
}

const NO_TRUST =
  'OpenSearch has a clock of its own, which decides: set the clock of this machine right (NTP)'

/** `index init`. */
export function addInit(index: Command, withServices: WithServices): void {
  index
    .command('init')
    .description('make the index (the first write does it too)')
    .option(
      '--trust-clock',
      'embedded store: accept the clock of this machine, which was wrong before and is right now',
    )
    .action(async (flags: InitFlags) =>
      withServices(async ({ prepare, trustClock }) => {
        await prepare()
        if (flags.trustClock) {
          if (trustClock === null) throw new Error(NO_TRUST)
          trustClock()
        }
        console.error('the index is ready')
      }),
    )
}
