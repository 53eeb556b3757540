import { MIN_JAVA_MAJOR } from '../tools/jdk.ts'
import { MIN_HAPROXY } from './haproxy.ts'

export type ServiceSource = 'given' | 'container' | 'process'
export type Tool =
  | 'redis-server'
  | 'jdk'
  | 'maven'
  | 'haproxy'
  | 'chromium'
  | 'python'
  | 'php'
  | 'mono'
  | 'fpc'
  | 'docker'
  | 'compose'

/** The sources of a service that this machine provides. */
export interface Availability {
  /** Its variable is set. */
  isConfigured: boolean
  /** A Docker engine responds. */
  hasDocker: boolean
  /** The missing requirements of a local process. */
  missingTools: readonly Tool[]
}

/** In the order of attempts; empty when something must be installed first. */
export function availableSources({
  isConfigured,
  hasDocker,
  missingTools,
}: Availability): ServiceSource[] {
  if (isConfigured) return ['given']
  const ways: ServiceSource[] = []
  if (hasDocker) ways.push('container')
  if (missingTools.length === 0) ways.push('process')
  return ways
}

/** The libraries of the samples in C#. */
const MONO_PACKAGES =
  'libmono-system-net-http4.0-cil libmono-system-runtime-serialization4.0-cil libmono-system-xml-linq4.0-cil'

const tools = {
  'redis-server': {
    absence: 'no redis-server on the path',
    remedy: 'redis-server (Debian: apt-get install -y redis-server)',
  },
  jdk: {
    absence: `no JDK >= ${MIN_JAVA_MAJOR}`,
    remedy: `a JDK >= ${MIN_JAVA_MAJOR} (Debian 13: apt-get install -y openjdk-21-jdk-headless)`,
  },
  maven: {
    absence: 'no mvn on the path',
    remedy: 'Maven (Debian: apt-get install -y maven)',
  },
  haproxy: {
    absence: `no HAProxy >= ${MIN_HAPROXY.major}.${MIN_HAPROXY.minor}`,
    remedy: 'HAProxy (Debian: apt-get install -y haproxy)',
  },
  chromium: {
    absence: 'no chromium on the path',
    remedy: 'Chromium (Debian: apt-get install -y chromium)',
  },
  python: {
    absence: 'no Python >= 3.11 with venv',
    remedy: 'Python >= 3.11 (Debian: apt-get install -y python3 python3-venv)',
  },
  php: {
    absence: 'no PHP with curl',
    remedy: 'PHP (Debian: apt-get install -y php-cli php-curl)',
  },
  mono: {
    absence: 'no mcs on the path',
    remedy: `Mono (Debian: apt-get install -y mono-mcs ${MONO_PACKAGES})`,
  },
  fpc: {
    absence: 'no fpc on the path',
    remedy: 'Free Pascal (Debian: apt-get install -y fp-compiler fp-units-fcl)',
  },
  docker: {
    absence: 'no Docker engine, and not root with what starts one',
    remedy:
      'Docker, or as root its parts (Debian: apt-get install -y docker.io debootstrap iptables)',
  },
  compose: {
    absence: 'no docker compose',
    remedy: 'Docker Compose (Debian: apt-get install -y docker-compose)',
  },
} as const satisfies Record<Tool, { absence: string; remedy: string }>

/** Why a tier with local services only cannot run, and what to install. */
export function describeMissingTools(tier: string, lacking: readonly Tool[]): string {
  return `${tier}: ${absencesOf(lacking).join(', ')}. Install ${remediesOf(lacking)}.`
}

/** Why a service cannot run here, and what to install. */
export function describeMissingService(
  service: string,
  variable: string,
  lacking: readonly Tool[],
): string {
  const absences = [`no ${variable}`, 'no Docker engine', ...absencesOf(lacking)]
  return `${service}: ${absences.join(', ')}. Install ${remediesOf(lacking)}, or start Docker.`
}

const absencesOf = (lacking: readonly Tool[]) => lacking.map((it) => tools[it].absence)
const remediesOf = (lacking: readonly Tool[]) => lacking.map((it) => tools[it].remedy).join(' and ')
