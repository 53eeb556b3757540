import { writeFileSync } from 'node:fs'

// Preloaded into a measured program: writes the resource usage of the process when it exits.
const file = process.env['BENCH_USAGE_FILE']
process.on('exit', () => {
  if (file) writeFileSync(file, JSON.stringify(process.resourceUsage()))
})
