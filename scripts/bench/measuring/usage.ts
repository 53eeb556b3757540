import { writeFileSync } from 'node:fs'

// Imported before a program that is measured: tells at its end what it used, as `process.resourceUsage` does.
const file = process.env['BENCH_USAGE_FILE']
process.on('exit', () => {
  if (file) writeFileSync(file, JSON.stringify(process.resourceUsage()))
})
