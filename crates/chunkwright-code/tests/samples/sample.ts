import { A } from "a";
@Component({ selector: 'x' })
export class AppComponent<T> implements OnInit {
  constructor(private a: A) {}
  @Input() name: string;
  abstract foo(): void;
  run = (): void => {};
}
export interface Opts { a: string; b(): void }
export type Id = string | number;
declare module "foo" { export function f(): void; }
namespace NS { export const x = 1; export function g() {} }
export enum Color { Red, Green }
export const enum E2 { A }
export abstract class Q { abstract m(): void; }
export default function () { return 1 }
function over(a: string): void;
function over(a: any) {}
