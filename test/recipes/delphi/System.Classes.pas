unit System.Classes;

{$mode delphi}

{ What the samples use of Delphi's unit of this name, as FPC's Classes has it. }
interface

uses
  Classes;

type
  TThread = Classes.TThread;

implementation

end.
