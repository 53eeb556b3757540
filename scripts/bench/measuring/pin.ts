import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { findOnPath } from '../../../test/harness/tools/find-on-path.ts'
import { processTree } from './cpu.ts'

const run = promisify(execFile)

/**
 * Pins the services to the last processor, and this process with all others that it started to the
 * rest, until the end of the scope. Returns a sentence that says so, or why nothing was pinned.
 */
export async function pinApart(
  servicePids: readonly number[],
  scope: AsyncDisposableStack,
): Promise<string> {
  const last = availableParallelism() - 1
  const taskset = findOnPath('taskset', process.env)
  if (taskset === undefined || last === 0) return 'not pinned: one processor, or no taskset'
  const pin = async (pids: readonly number[], processors: string) => {
    for (const pid of pids) await run(taskset, ['-acp', processors, `${pid}`])
  }
  const services = (await Promise.all(servicePids.map(processTree))).flat()
  const others = (await processTree(process.pid)).filter((pid) => !services.includes(pid))
  scope.defer(async () => pin(await processTree(process.pid), `0-${last}`))
  await pin(others, `0-${last - 1}`)
  await pin(services, `${last}`)
  return `the services are pinned to one processor, and what the bench started beside them to the other ${last}`
}
