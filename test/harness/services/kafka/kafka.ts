import { execFile } from 'node:child_process'
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Admin } from '@platformatic/kafka'
import { poll } from '../../processes/poll.ts'
import { findFreePort } from '../../processes/ports.ts'
import { type ScratchProcess, startInScratch } from '../../processes/scratch.ts'
import { findOnPath } from '../../tools/find-on-path.ts'
import { findJava, JVM_OPTIONS, MIN_JAVA_MAJOR } from '../../tools/jdk.ts'
import { formattedData, IDENTITY, kafkaClassPath, toProperties } from './kafka-class-path.ts'

const START_MS = 180_000

export interface KafkaOptions {
  /** The protocol of the listener of clients. */
  protocol?: 'PLAINTEXT' | 'SASL_SSL'
  /** More settings of the broker. */
  properties?: Readonly<Record<string, string>>
  /** Files in the folder of the broker, where relative paths of settings lead. */
  files?: Readonly<Record<string, string>>
  /** The environment in which the JDK and Maven are searched. */
  env?: NodeJS.ProcessEnv
}

/** A private broker on the loopback address. Topics must be created. */
export interface RunningKafka {
  /** `host:port`, for clients. */
  readonly broker: string
  /** Without authentication, for the tests. */
  readonly plainBroker: string
  /** For signals. */
  readonly pid: number
  /** Runs a class of the broker with arguments. */
  run(...args: readonly string[]): Promise<void>
  kill(): Promise<void>
  /** Kills a running broker, and starts it with its data. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts one Kafka from the artifacts of Maven Central, without a container, and waits until it
 * responds. It ends with this process at the latest.
 * @throws Error when there is no JDK or Maven
 */
export async function startKafka(options: KafkaOptions = {}): Promise<RunningKafka> {
  const { protocol = 'PLAINTEXT', properties = {}, files = {}, env = process.env } = options
  const java = await findJava(env)
  const maven = findOnPath('mvn', env)
  if (!java || !maven) throw new Error(`Kafka needs a JDK >= ${MIN_JAVA_MAJOR} and Maven`)
  const classPath = await kafkaClassPath(maven, java)
  const data = await formattedData(classPath, java)

  return await startInScratch('kafka', async (scratch) => {
    const ports = { client: await freePort(), plain: await freePort(), control: await freePort() }
    await cp(data, join(scratch.path, 'data'), { recursive: true })
    const settings = toProperties({ ...settingsOf(ports, protocol), ...properties })
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(scratch.path, name), text)
    }
    await writeFile(join(scratch.path, 'server.properties'), settings)
    const plainBroker = `127.0.0.1:${ports.plain}`
    const args = [...JVM_ARGS, '-cp', classPath, 'kafka.Kafka', 'server.properties']
    let running: ScratchProcess
    const start = async () => {
      running = await scratch.start('kafka', java, args)
      await poll(
        () => responds(plainBroker),
        async () => `Kafka did not start. ${await running.describe()}`,
        { timeoutMs: START_MS, intervalMs: 100, shouldAbort: () => running.hasEnded() },
      )
    }
    await start()
    return {
      broker: `127.0.0.1:${ports.client}`,
      plainBroker,
      get pid() {
        return running.pid
      },
      async run(...args) {
        const options = { cwd: scratch.path, timeout: START_MS }
        await promisify(execFile)(java, ['-cp', classPath, ...args], options)
      },
      kill: () => running.kill(),
      async restart() {
        await running.kill()
        await start()
      },
      stop: scratch.close,
    }
  })
}

const JVM_ARGS = [
  '-Xms128m',
  '-Xmx256m',
  ...JVM_OPTIONS.test,
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
]

const freePort = () => findFreePort(() => true)

/** One process that is broker and controller. Its group coordinator starts without delays. */
function settingsOf(
  ports: Record<'client' | 'plain' | 'control', number>,
  protocol: string,
): Record<string, string> {
  const listeners = `CLIENT://127.0.0.1:${ports.client},PLAIN://127.0.0.1:${ports.plain}`
  return {
    ...IDENTITY,
    'controller.quorum.voters': `1@127.0.0.1:${ports.control}`,
    listeners: `${listeners},CONTROLLER://127.0.0.1:${ports.control}`,
    'advertised.listeners': listeners,
    'inter.broker.listener.name': 'PLAIN',
    'listener.security.protocol.map': `CLIENT:${protocol},PLAIN:PLAINTEXT,CONTROLLER:PLAINTEXT`,
    'log.dirs': 'data',
    'num.partitions': '1',
    'auto.create.topics.enable': 'false',
    'broker.heartbeat.interval.ms': '250', // The broker is ready after a few.
    'group.initial.rebalance.delay.ms': '0',
    'offsets.topic.replication.factor': '1',
    'offsets.topic.num.partitions': '1',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'transaction.state.log.num.partitions': '1',
  }
}

async function responds(broker: string): Promise<boolean> {
  const admin = new Admin({ clientId: 'harness', bootstrapBrokers: [broker], retries: 0 })
  try {
    const { brokers } = await admin.metadata({ topics: [] })
    return brokers.size > 0
  } catch {
    return false
  } finally {
    await admin.close()
  }
}

/** Adds a login for SCRAM-SHA-512. */
export async function addScramUser(
  { run, plainBroker }: RunningKafka,
  user: string,
  password: string,
): Promise<void> {
  await run(
    ...['kafka.admin.ConfigCommand', '--bootstrap-server', plainBroker, '--alter'],
    ...['--entity-type', 'users', '--entity-name', user],
    ...['--add-config', `SCRAM-SHA-512=[password=${password}]`],
  )
}
