/**
 * Types of the encoders that `build/protobuf.js` generates from v3.proto. Messages have camel-case fields; other
 * members are ignored.
 */
import type { Writer } from 'protobufjs'

interface Written { encode: (message: object, writer?: Writer) => Writer }

export const Components: Written
export const Document: Written
export const PathItem: Written
export const SchemaOrReference: Written
