import { getReaperImage } from 'testcontainers/build/reaper/reaper.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Engine, openEngine } from '../harness/containers/engine.ts'
import { composeImages, nodeImage, provideImages } from '../harness/containers/images.ts'
import { startTestRun } from '../support/containers/test-run.ts'

const BUILD_MS = 600_000
/** A killed run is noticed after the ten seconds in which it could connect again. */
const REAPED_MS = 120_000
const LABEL = 'label=org.testcontainers=true'
/** As an example of what needs both services. */
const EXAMPLE = ['--project=integration', 'test/integration/service/webhook-secrets.test.ts']

let engine: Engine
let volumesBefore: string[]

beforeAll(async () => {
  engine = await openEngine()
  const { opensearch = '', redis = '' } = composeImages
  await provideImages(engine, [nodeImage, opensearch, redis, getReaperImage()])
  volumesBefore = await unusedVolumes()
}, BUILD_MS)
afterAll(() => engine[Symbol.asyncDispose](), BUILD_MS)

const lines = async (...args: readonly string[]) =>
  (await engine.docker(...args)).split('\n').filter((line) => line !== '')
const containers = () => lines('ps', '--all', '--format={{.Image}}', `--filter=${LABEL}`)
const unusedVolumes = () => lines('volume', 'ls', '--quiet', '--filter=dangling=true')
/** All containers, networks and new volumes of test runs. */
async function leftovers(): Promise<string[]> {
  const networks = lines('network', 'ls', '--format={{.Name}}', `--filter=${LABEL}`)
  const volumes = (await unusedVolumes()).filter((name) => !volumesBefore.includes(name))
  return [...(await containers()), ...(await networks), ...volumes]
}

describe('npm test where a Docker engine responds', () => {
  it('starts its services in containers, passes as with local processes, and leaves nothing', async () => {
    const { code, output } = await startTestRun(engine.docker, EXAMPLE).ended
    expect(output).toMatch(/OpenSearch: starting in Docker …\n/)
    expect(output).toMatch(/Redis: starting in Docker …\n/)
    expect(output).not.toContain('as a local process')
    expect({ code, output }).toMatchObject({ code: 0 })
    await expect.poll(leftovers, { timeout: REAPED_MS }).toEqual([])
  })

  it('leaves nothing when it is killed while its services start', async () => {
    const run = startTestRun(engine.docker, EXAMPLE)
    // Redis, two nodes of OpenSearch, and the reaper of testcontainers.
    await expect.poll(async () => (await containers()).length, { timeout: REAPED_MS }).toBe(4)
    run.kill()
    await run.ended
    await expect.poll(leftovers, { timeout: REAPED_MS }).toEqual([])
  })
})
