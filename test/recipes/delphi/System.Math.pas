unit System.Math;

{$mode delphi}

{ What the samples use of Delphi's unit of this name, as FPC's Math has it. }
interface

function Max(A, B: Integer): Integer;

implementation

uses
  Math;

function Max(A, B: Integer): Integer;
begin
  Result := Math.Max(A, B);
end;

end.
