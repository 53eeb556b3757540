import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// Called before `runc create` and `runc exec` where this machine may not raise a limit of
// resources: lowers the limits that a container asks for to those of this process, instead of
// failing.
interface ProcessSpec {
  rlimits?: { type: string; soft: number; hard: number }[]
}

const NAMES: Record<string, string> = {
  RLIMIT_NOFILE: 'Max open files',
  RLIMIT_NPROC: 'Max processes',
  RLIMIT_MEMLOCK: 'Max locked memory',
}
const limits = readFileSync('/proc/self/limits', 'utf8')

function hardLimitOf(type: string): number {
  const [, hard] = new RegExp(`^${NAMES[type]} +\\S+ +(\\S+)`, 'm').exec(limits) ?? []
  return hard === undefined || hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard)
}

function lower(process: ProcessSpec): void {
  for (const limit of process.rlimits ?? []) {
    const hard = hardLimitOf(limit.type)
    if (limit.hard <= hard) continue
    limit.hard = hard
    limit.soft = Math.min(limit.soft, hard)
  }
}

const args = process.argv.slice(2)
const valueAfter = (name: string) => args[args.indexOf(name) + 1]
if (args.includes('--bundle')) {
  const file = join(String(valueAfter('--bundle')), 'config.json')
  const spec = JSON.parse(readFileSync(file, 'utf8'))
  lower(spec.process)
  writeFileSync(file, JSON.stringify(spec))
} else if (args.includes('--process')) {
  const file = String(valueAfter('--process'))
  const spec = JSON.parse(readFileSync(file, 'utf8'))
  lower(spec)
  writeFileSync(file, JSON.stringify(spec))
}
