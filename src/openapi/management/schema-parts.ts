import { Type } from '@sinclair/typebox'

/** The instant in all examples. */
export const AT = '2026-11-23T12:00:00.000Z'
/** 32 hexadecimal digits, for the ids in examples. */
export const HEX = '3f2a9c4e'.repeat(4)

/** The field `object` of a resource. */
export const kind = <T extends string>(name: T) =>
  Type.Literal(name, { description: `Sempre \`${name}\`.` })
