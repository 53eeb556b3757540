import { Kind, type Static, type TObject, Type, TypeRegistry } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler, type ValueError } from '@sinclair/typebox/compiler'
import { ValueErrorType } from '@sinclair/typebox/errors'
import { DAY_MS, SECOND_MS } from '../../lib/durations.ts'
import { InvalidParamError } from '../../lib/errors/invalid-param-error.ts'
import { isOneLine, ONE_LINE } from '../../lib/text/one-line.ts'

/** The largest body of JSON fields. */
export const MAX_BODY_BYTES = 64 * 1_024

/** The body of a route: a JSON object with these fields and no other. */
export interface Body<T extends TObject> {
  schema: T
  /** @throws InvalidParamError naming the field, and what was expected */
  parse(body: unknown): Static<T>
}

/** Compiles the body of a route. Each field's `expected` completes the sentence of its error. */
export function defineBody<T extends TObject>(schema: T): Body<T> {
  const closed = Type.Object(schema.properties, { additionalProperties: false })
  const check = TypeCompiler.Compile(closed) as unknown as TypeCheck<T>
  return {
    schema,
    parse(body) {
      // A request without a body has no field.
      const fields = body === undefined ? {} : body
      if (check.Check(fields)) return fields
      const error = check.Errors(fields).First()
      throw invalidField(error, Object.keys(schema.properties))
    },
  }
}

const LINE = 'Line'
TypeRegistry.Set<LineOptions>(
  LINE,
  (schema, value) => typeof value === 'string' && isOneLine(value, schema),
)

interface LineOptions {
  minLength?: number
  maxLength: number
  /** Absent where the field has its own. */
  expected?: string
}

/** A field with a text of one line. A `Type.String` would count UTF-16 units as its length. */
export function lineField(options: LineOptions) {
  return Type.Unsafe<string>({ [Kind]: LINE, type: 'string', ...options, pattern: ONE_LINE })
}

/** A field with whole seconds, between both bounds inclusive. */
export function secondsField(minimum: number, maximum: number) {
  const expected = `um número inteiro de segundos, de ${minimum} a ${maximum}`
  return Type.Integer({ minimum, maximum, expected })
}

/** The body of a roll: for how long the old secret stays valid. */
export function defineRollBody(maxOverlapMs: number) {
  return defineBody(
    Type.Object({
      overlap_seconds: Type.Optional(secondsField(0, maxOverlapMs / SECOND_MS)),
    }),
  )
}

/** The overlap of a roll in milliseconds; one day when the body has none. */
export function overlapMsOf({ overlap_seconds: seconds }: { overlap_seconds?: number }): number {
  return seconds === undefined ? DAY_MS : seconds * SECOND_MS
}

/** The body of a request that has no fields. */
export const NoFields = defineBody(Type.Object({}))

function invalidField(error: ValueError | undefined, known: readonly string[]): InvalidParamError {
  const name = error?.path.split('/')[1] ?? ''
  if (error === undefined || name === '') {
    return new InvalidParamError('body', 'Envie no corpo um objeto JSON.')
  }
  if (error.type === ValueErrorType.ObjectAdditionalProperties) {
    const fields = known.length === 0 ? 'nenhum' : known.join(', ')
    return new InvalidParamError(name, `O campo "${name}" não existe. Campos possíveis: ${fields}.`)
  }
  const expected = String(error.schema['expected'] ?? 'um valor válido')
  return new InvalidParamError(name, `Envie em ${name} ${expected}.`)
}
