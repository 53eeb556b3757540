import { fileURLToPath } from 'node:url'
import { changeSince, gitIn } from './change.ts'
import { chooseTiers, slowTiers } from './slow-tiers.ts'

// Prints the slow tiers that `.ci/run` has to run, one per line, and on stderr which it leaves out
// and why.
const root = fileURLToPath(new URL('../../', import.meta.url))
const isFull = process.env['CI_FULL'] === '1'
const { tiers, reason } = chooseTiers(changeSince(gitIn(root), process.env), isFull)
const leftOut = [
  ...slowTiers.filter((tier) => !tiers.includes(tier)),
  ...(isFull ? [] : ['faults (full matrix)', 'soak', 'all cases of the model tests']),
]
console.error(`Slow tiers to run: ${tiers.join(', ') || 'none'} (${reason}).`)
if (leftOut.length > 0) console.error(`Left out: ${leftOut.join(', ')}. CI_FULL=1 runs them.`)
for (const tier of tiers) console.log(tier)
