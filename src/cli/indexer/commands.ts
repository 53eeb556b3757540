import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import type { WithServices } from '../with-services.ts'
import { addCheck } from './check.ts'
import { addInit } from './init.ts'
import { addLoad } from './load.ts'
import { addReindex } from './reindex.ts'
import { addStatus } from './status.ts'
import { addWatch } from './watch.ts'

/** `index`, one file a command. */
export function addIndex(
  index: Command,
  withServices: WithServices,
  context: CommandContext,
): void {
  addInit(index, withServices, context)
  addLoad(index, withServices, context)
  addReindex(index, withServices, context)
  addWatch(index, withServices, context)
  addCheck(index, withServices, context)
  addStatus(index, withServices, context)
}
