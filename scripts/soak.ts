import { provideServices } from '../test/harness/services/provide.ts'
import type { ResponseStats } from '../test/harness/traffic/response-stats.ts'
import { interruptible } from './interruptible.ts'
import { type Memory, slope } from './soak/memory.ts'
import { readOptions } from './soak/options.ts'
import { soak } from './soak/soak.ts'

// Sends mixed traffic to a service for a long time. It exits with 1 when memory or open files keep
// growing, when a response was wrong, or when the service shed a request.
const MAX_SLOPE_MB = 1
const MAX_MORE_FILES = 25
const COLUMNS = ['minute', 'RSS MB', 'heap MB', 'external MB', 'files', 'answers']

await interruptible(async (signal) => {
  const options = readOptions(process.argv.slice(2))
  const services = await provideServices({ env: process.env, log: console.error })
  if ('missing' in services) throw new Error(services.missing.join('\n'))
  let faults = 0
  try {
    console.log(COLUMNS.join('  '))
    const onMinute = (minute: number, memory: Memory, stats: ResponseStats) => {
      const { resident, heapUsed, external, openFiles } = memory
      const mb = [resident, heapUsed, external].map((bytes) => toMb(bytes).toFixed(1))
      const cells = [minute, ...mb, openFiles].map((cell, at) => {
        return `${cell}`.padStart(COLUMNS[at]?.length ?? 0)
      })
      console.log([...cells, describe(stats)].join('  '))
      for (const what of stats.reported) console.log(`  ${what}`)
      for (const [kind, count] of Object.entries(stats.violations)) {
        if (count > 0) console.log(`  ${kind}: ${count}`)
        faults += count
      }
    }
    const minutes = await soak({ options, services: services.env, signal, onMinute })
    reportResult(minutes.slice(options.warmUpMinutes), faults)
  } finally {
    await services.stop()
  }
})

function reportResult(minutes: readonly Memory[], faults: number): void {
  const slopes = (['resident', 'heapUsed', 'external'] as const).map((name) => ({
    name,
    mb: toMb(slope(minutes.map((memory) => memory[name]))),
  }))
  for (const { name, mb } of slopes) {
    console.log(`${name}: ${mb.toFixed(3)} MB a minute over the last ${minutes.length}`)
  }
  const moreFiles = slope(minutes.map(({ openFiles }) => openFiles)) * (minutes.length - 1)
  console.log(`open files: ${moreFiles.toFixed(0)} more`)
  if (faults > 0) console.log('there were wrong responses')
  const isGrowing = slopes.some(({ mb }) => !(mb < MAX_SLOPE_MB)) || moreFiles > MAX_MORE_FILES
  if (faults > 0 || isGrowing) process.exitCode = 1
}

function describe({ statuses }: ResponseStats): string {
  const counts = [...statuses].sort(([a], [b]) => a - b)
  return counts.map(([status, count]) => `${status}×${count}`).join(' ')
}

function toMb(bytes: number): number {
  return bytes / 2 ** 20
}
