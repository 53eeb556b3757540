import { Agent, request } from 'undici'
import type { Certificate } from '../certificate.ts'

/** The newest OpenSearch whose security plugin Maven Central has. */
export const SECURED_VERSION = '3.4.0'
export const PLUGIN_CLASS = 'org.opensearch.security.OpenSearchSecurityPlugin'
export const PLUGIN_ARTIFACT =
  `org.opensearch.plugin:opensearch-security:${SECURED_VERSION}.0:zip` as const
/** In the distribution, a module that the plugin extends provides it. */
export const MODULE_ARTIFACT = 'org.apache.commons:commons-collections4:4.5.0'

/** The password of every user, with characters that a URL must percent-encode. */
export const PASSWORD = 'p@ss:w/rd?'
const BCRYPT_OF_PASSWORD = '$2y$04$n2vMsCvR53OjqXskUASE6uH4k5UCpeMOBNCIw/.pvzyZiLHpRJr8m'
/** A user with all permissions, for the test itself. */
export const ADMIN = 'admin'

/** A role in the form of the plugin's `roles.yml`. */
export interface Role {
  cluster_permissions: readonly string[]
  index_permissions: readonly {
    index_patterns: readonly string[]
    allowed_actions: readonly string[]
  }[]
}

export interface SecurityOptions {
  /** Of the nodes; their name is `localhost`. */
  certificate: Certificate
  /** By name; each has one user, with the name of the role. */
  roles: Readonly<Record<string, Role>>
}

/** What a node with the security plugin needs beyond one without. */
export interface NodeSecurity {
  settings: object
  /** Files of the configuration folder: path → content. */
  files: Readonly<Record<string, string>>
  /** Sends a GET request as {@link ADMIN}. */
  get(path: string, port: number): Promise<{ status: number; text: string }>
}

const PEM = { cert: 'cert.pem', key: 'key.pem', ca: 'ca.pem' } as const

/** Every call is in the audit log of the node, which is part of its output. */
export function nodeSecurity({ certificate, roles }: SecurityOptions): NodeSecurity {
  const users = [ADMIN, ...Object.keys(roles)]
  const mapped = Object.keys(roles).map((name) => [name, { users: [name] }])
  const configuration = {
    config: configurationFile('config', { config: { dynamic: { authc: { basic: BASIC } } } }),
    internal_users: configurationFile(
      'internalusers',
      Object.fromEntries(users.map((name) => [name, { hash: BCRYPT_OF_PASSWORD }])),
    ),
    roles: configurationFile('roles', roles),
    roles_mapping: configurationFile('rolesmapping', {
      all_access: { users: [ADMIN] },
      ...Object.fromEntries(mapped),
    }),
    action_groups: configurationFile('actiongroups', {}),
    tenants: configurationFile('tenants', {}),
    audit: configurationFile('audit', AUDIT),
  }
  const files = Object.entries(configuration).map(([name, content]) => [
    `opensearch-security/${name}.yml`,
    content,
  ])
  const dispatcher = new Agent({ connect: { ca: certificate.ca, servername: 'localhost' } })
  const authorization = basicAuthorization(ADMIN)
  return {
    settings: {
      ...tlsSettings('http'),
      'plugins.security.ssl.http.enabled': true,
      ...tlsSettings('transport'),
      'plugins.security.nodes_dn': ['CN=localhost'],
      'plugins.security.allow_default_init_securityindex': true,
      'plugins.security.audit.type': 'log4j',
      'plugins.security.audit.threadpool.size': 1, // Logs calls in their order.
    },
    files: {
      ...Object.fromEntries(files),
      ...Object.fromEntries(
        Object.entries(PEM).map(([of, file]) => [file, certificate[of as 'ca']]),
      ),
    },
    async get(path, port) {
      const url = `https://127.0.0.1:${port}${path}`
      const { statusCode, body } = await request(url, { dispatcher, headers: { authorization } })
      return { status: statusCode, text: await body.text() }
    },
  }
}

/** The value of the header for a user of the harness. */
export const basicAuthorization = (user: string): string =>
  `Basic ${Buffer.from(`${user}:${PASSWORD}`).toString('base64')}`

const BASIC = {
  http_enabled: true,
  order: 0,
  http_authenticator: { type: 'basic', challenge: true },
  authentication_backend: { type: 'intern' },
}

const AUDIT = {
  config: {
    enabled: true,
    audit: {
      enable_rest: true,
      disabled_rest_categories: ['AUTHENTICATED', 'GRANTED_PRIVILEGES'],
      enable_transport: true,
      disabled_transport_categories: ['AUTHENTICATED', 'INDEX_EVENT'],
      log_request_body: false,
      resolve_indices: true,
    },
    compliance: { enabled: false },
  },
}

const configurationFile = (type: string, content: object) =>
  JSON.stringify({ _meta: { type, config_version: 2 }, ...content })

function tlsSettings(layer: 'http' | 'transport'): object {
  const prefix = `plugins.security.ssl.${layer}`
  return {
    [`${prefix}.pemcert_filepath`]: PEM.cert,
    [`${prefix}.pemkey_filepath`]: PEM.key,
    [`${prefix}.pemtrustedcas_filepath`]: PEM.ca,
  }
}
