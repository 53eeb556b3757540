import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import { settingsRead } from './settings-read.ts'

const file = new URL('../../../.env.example', import.meta.url)
const documented = parseEnv(readFileSync(file, 'utf8')) as Record<string, string>

/** Standard variables of OpenTelemetry that `.env.example` names by their prefix alone. */
const BY_PREFIX = /^OTEL_(BSP|EXPORTER_OTLP)_/
/** The OpenTelemetry SDK reads these itself. */
const OF_SDK = ['OTEL_SERVICE_NAME', 'OTEL_RESOURCE_ATTRIBUTES']

it('.env.example has every setting that the service reads', () => {
  const missing = settingsRead().filter((name) => !(name in documented) && !BY_PREFIX.test(name))
  expect(missing, 'describe these settings in .env.example').toEqual([])
})

it('the service reads every setting of .env.example', () => {
  const known = [...settingsRead(), ...OF_SDK]
  expect(Object.keys(documented).filter((name) => !known.includes(name))).toEqual([])
})

it('the values of .env.example are the defaults', () => {
  expect(parseConfig(documented)).toEqual(parseConfig({}))
})
