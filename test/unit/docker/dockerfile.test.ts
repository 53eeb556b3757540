import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { recipeFiles } from '../../../src/http/routes/recipe-files.ts'
import { argumentsOf, image, imageEnvironment, PINNED, stages } from './dockerfile.ts'

const names = stages.map(({ name }) => name)
const bases = stages.map(({ base }) => base).filter((base) => !names.includes(base))
const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
const ignoreRules = read('.dockerignore')
const rootManifest = JSON.parse(read('package.json'))
const last = (keyword: string) => argumentsOf(keyword).at(-1) ?? ''

describe('the image', () => {
  it('the image is built in stages, and copies only what the service needs', () => {
    expect(stages.length).toBeGreaterThan(1)
    expect(argumentsOf('COPY')).toEqual([
      '--from=build /app/package.json ./',
      '--from=dependencies /app/node_modules ./node_modules',
      '--from=build /app/dist ./dist',
      '--from=build /app/openapi ./openapi',
      '--from=build /app/src/console ./src/console',
    ])
    expect(argumentsOf('ADD')).toEqual([])
  })

  it('the build context has every file that the image copies', () => {
    const letIn = ignoreRules.match(/(?<=^!)(?!openapi\/recipes\/).+$/gm) ?? []
    const copied = stages
      .flatMap(({ instructions }) => argumentsOf('COPY', instructions))
      .filter((argument) => !argument.startsWith('--from='))
      .flatMap((argument) =>
        argument
          .replace(/^--\S+ /, '')
          .split(' ')
          .slice(0, -1),
      )
    expect(new Set(letIn)).toEqual(new Set(copied))
  })

  it('the build context has the recipes that are served, and no files that running one leaves', () => {
    expect(ignoreRules).toMatch(/^openapi\/recipes$/m)
    expect(ignoreRules.match(/(?<=^!openapi\/recipes\/).+$/gm)).toEqual([...recipeFiles])
  })

  it('the build context has no code with dependencies that the image does not install', () => {
    for (const workspace of rootManifest.workspaces) {
      expect(ignoreRules.split('\n')).toContain(workspace)
    }
  })

  it('the image copies its node_modules from a stage with production dependencies only', () => {
    const dependencies = stages.find(({ name }) => name === 'dependencies')
    expect(argumentsOf('RUN', dependencies?.instructions)).toEqual([
      'npm ci --omit=dev --ignore-scripts --workspaces=false',
    ])
  })

  it.each(bases)('the base %s is pinned to a full version', (base) => {
    expect(base).toMatch(PINNED)
  })

  it('the image has the Node version of the tests', () => {
    expect(bases).toEqual([expect.stringMatching(`^node:${rootManifest.devDependencies.node}-`)])
  })

  it('the image runs as a numeric user other than root', () => {
    expect(last('USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    const lastOf = (keyword: string) => image.findLastIndex((one) => one.keyword === keyword)
    expect(lastOf('USER')).toBeGreaterThan(lastOf('RUN'))
  })

  it('the image starts Node without a shell, so that signals reach it and a command replaces serve', () => {
    expect(JSON.parse(last('ENTRYPOINT'))).toEqual([
      'node',
      '--max-semi-space-size=2',
      'dist/main.js',
    ])
    expect(JSON.parse(last('CMD'))).toEqual(['serve'])
    expect(last('STOPSIGNAL')).toBe('SIGTERM')
  })

  it('the service listens beyond its loopback, on the exposed ports', () => {
    expect(imageEnvironment).toMatchObject({ HOST: '0.0.0.0', OPERATIONS_PORT: '3001' })
    expect(last('EXPOSE')).toBe('3000 3001')
  })
})

describe('the health check of the image', () => {
  const [command, flag, script = ''] = JSON.parse(last('HEALTHCHECK').replace(/^.* CMD /, ''))

  /** The exit status and the requested address for this response. */
  const check = (answer: Promise<{ ok: boolean }>, env = imageEnvironment) =>
    new Promise((resolve) => {
      let requestedUrl = ''
      const fetch = (address: string) => {
        requestedUrl = address
        return answer
      }
      const exit = (status: number) => resolve({ status, url: requestedUrl })
      runInNewContext(script, { fetch, process: { env, exit } })
    })
  const url = 'http://127.0.0.1:3001/health/live'

  it('the health check needs nothing but Node', () => {
    expect([command, flag]).toEqual(['node', '-e'])
  })

  it('the health check passes while the service is alive, ready or not, so that Swarm keeps it', async () => {
    expect(await check(Promise.resolve({ ok: true }))).toEqual({ status: 0, url })
  })

  it('the health check uses the default port when the setting is empty, as the service does', async () => {
    const env = { ...imageEnvironment, OPERATIONS_PORT: '' }
    expect(await check(Promise.resolve({ ok: true }), env)).toEqual({ status: 0, url })
  })

  it('the health check fails when the service reports that it hangs', async () => {
    expect(await check(Promise.resolve({ ok: false }))).toEqual({ status: 1, url })
  })

  it('the health check fails without a response', async () => {
    expect(await check(Promise.reject(new Error('connection refused')))).toEqual({ status: 1, url })
  })
})
