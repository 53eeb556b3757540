import { expect, it } from 'vitest'
import { programName } from '../../../src/orders-cli/program-name.ts'

const PATH = '/usr/bin:/usr/local/bin'
const LOCAL = '/app/node_modules/.bin/orders'
const PACKAGED = '/app/node_modules/public-orders-cli/dist/orders-cli/main.js'
const SOURCE = '/app/src/orders-cli/main.ts'

it.each<[string, NodeJS.ProcessEnv, string]>([
  ['/usr/local/bin/orders', {}, 'orders'],
  [LOCAL, { npm_command: 'exec', npm_lifecycle_event: 'npx' }, 'npx orders'],
  [LOCAL, { npm_command: 'run-script', npm_lifecycle_event: 'noite' }, 'npx orders'],
  [LOCAL, {}, 'node_modules/.bin/orders'],
  [PACKAGED, {}, 'orders'],
  [PACKAGED, { npm_command: 'exec' }, 'npx orders'],
  [SOURCE, { npm_command: 'run-script', npm_lifecycle_event: 'orders' }, 'npm run -s orders --'],
  [SOURCE, { npm_command: 'run', npm_lifecycle_event: 'orders' }, 'npm run -s orders --'],
  [LOCAL, { npm_command: 'run', npm_lifecycle_event: 'noite' }, 'npx orders'],
  [SOURCE, {}, 'node src/orders-cli/main.ts'],
  ['/opt/src/orders-cli/main.ts', {}, 'node /opt/src/orders-cli/main.ts'],
])('the program %s with %j is called as %s', (script, env, name) => {
  expect(programName(script, { PATH, ...env }, '/app').join(' ')).toBe(name)
})
