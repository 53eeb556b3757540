import type { Command } from 'commander'
import type { Environment, WithServices } from '../with-services.ts'
import { addCheck } from './check.ts'
import { addInit } from './init.ts'
import { addLoad } from './load.ts'
import { addReindex } from './reindex.ts'
import { addStatus } from './status.ts'
import { addWatch } from './watch.ts'

/** `index`, one file a command. */
export function addIndex(index: Command, withServices: WithServices, env: Environment): void {
  addInit(index, withServices, env)
  addLoad(index, withServices)
  addReindex(index, withServices)
  addWatch(index, withServices)
  addCheck(index, withServices)
  addStatus(index, withServices)
}
