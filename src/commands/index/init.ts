import type { Command } from 'commander'
import type { WithServices } from '../with-services.ts'

/** `index init`. */
export function addInit(index: Command, withServices: WithServices): void {
  index
    .command('init')
    .description('make the index (the first write does it too)')
    .action(async () =>
      withServices(async ({ prepare }) => {
        await prepare()
        console.error('the index is ready')
      }),
    )
}
