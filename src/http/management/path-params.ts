import { Type } from '@sinclair/typebox'

/** The path parameters of the routes below an account. */
export const AccountParams = Type.Object({ account: Type.String() })

/** The same for one item of an account, such as a key. */
export const AccountItemParams = Type.Object({ ...AccountParams.properties, id: Type.String() })
