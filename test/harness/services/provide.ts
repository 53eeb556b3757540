import { isDockerReachable, type RunningService } from './containers.ts'
import { openSearchVersion } from './opensearch/opensearch-version.ts'
import { availableSources, describeMissingService, type ServiceSource } from './service-sources.ts'
import { serviceStarters, type Variable } from './start-service.ts'

/** Both services, as environment variables for their clients. */
export interface ProvidedServices {
  readonly env: Readonly<Record<Variable, string>>
  stop(): Promise<void>
}

/** Why services are missing: one sentence for each that is unavailable. */
export interface MissingServices {
  readonly missing: readonly string[]
}

interface ProvideOptions {
  env: NodeJS.ProcessEnv
  /** Receives progress messages. */
  log(text: string): void
  hasDocker?: () => Promise<boolean>
}

/**
 * Both services, each from the first available source: the address in its variable, a container, a
 * local process. Starts nothing when one of the two is unavailable. Started services end with this
 * process.
 * @throws Error when `TEST_OPENSEARCH_VERSION` names no release
 */
export async function provideServices(
  options: ProvideOptions,
): Promise<ProvidedServices | MissingServices> {
  const { env, hasDocker = isDockerReachable } = options
  openSearchVersion(env) // A typing error is no missing service, which would skip tiers.
  const areGiven = Boolean(env['OPENSEARCH_URL'] && env['REDIS_URL'])
  const docker = !areGiven && (await hasDocker())
  const plans = await Promise.all([
    plan('OPENSEARCH_URL', env, docker),
    plan('REDIS_URL', env, docker),
  ])
  const missing = plans.flatMap((plan) => (plan.ways.length === 0 ? [plan.missing] : []))
  if (missing.length > 0) return { missing }

  const [openSearch, redis] = await Promise.allSettled([
    start('OPENSEARCH_URL', plans[0].ways, options),
    start('REDIS_URL', plans[1].ways, options),
  ])
  const results = [openSearch, redis]
  const stop = async () => {
    await Promise.all(results.map((one) => one.status === 'fulfilled' && one.value.stop()))
  }
  if (openSearch.status === 'fulfilled' && redis.status === 'fulfilled') {
    return { env: { OPENSEARCH_URL: openSearch.value.url, REDIS_URL: redis.value.url }, stop }
  }
  await stop()
  return {
    missing: results.flatMap((one) => (one.status === 'rejected' ? [one.reason.message] : [])),
  }
}

async function plan(variable: Variable, env: NodeJS.ProcessEnv, docker: boolean) {
  const { name, missingTools: findMissing } = serviceStarters[variable]
  const given = Boolean(env[variable])
  const lacking = given ? [] : await findMissing(env)
  return {
    ways: availableSources({ isConfigured: given, hasDocker: docker, missingTools: lacking }),
    missing: describeMissingService(name, variable, lacking),
  }
}

async function start(
  variable: Variable,
  ways: readonly ServiceSource[],
  { env, log }: ProvideOptions,
): Promise<RunningService> {
  const source = serviceStarters[variable]
  const reasons: string[] = []
  for (const way of ways) {
    if (way === 'given') return { url: env[variable] ?? '', stop: async () => {} }
    log(`${source.name}: starting ${way === 'container' ? 'in Docker' : 'as a local process'} …`)
    try {
      const running = await (way === 'container'
        ? source.startContainer(env)
        : source.startProcess(env))
      log(`${source.name}: ${running.url}`)
      return running
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      log(`${source.name}: ${message}`)
      reasons.push(message.replace(/:?\n.*/s, '')) // The rest is a log.
    }
  }
  throw new Error(`${source.name}: ${reasons.join('; ')}. See the output of the attempts above.`)
}
